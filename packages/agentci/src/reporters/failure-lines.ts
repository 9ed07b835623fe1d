import { andMore, clip, plural } from '../kit/words.ts';
import { type FailureGroup, GROUPS_FROM, groupFailures } from '../results/failure-groups.ts';
import type { RunResult } from '../results/run-result.ts';

const MAX_GROUPS = 5;
const MAX_QUERIES = 4;
const MAX_EXAMPLE = 160;

/** The groups worth showing in a report: none where a list of the failures says as much. */
export function shownGroups(run: RunResult): FailureGroup[] {
  const failures = run.summary.failed + run.summary.errors;
  if (failures < GROUPS_FROM) return [];
  return groupFailures(run).slice(0, MAX_GROUPS);
}

/** The first line of a message. */
export const exampleLine = (example: string): string => clip(example.split('\n', 1)[0]!, MAX_EXAMPLE);

/** `7 queries: correctness.expected_in_answer: found 0 of 1 expected term; missing: … (a, b and 5 more)`: true of all of them. */
export const groupLine = ({ check, title, queries }: FailureGroup): string =>
  `${plural(queries.length, 'query', 'queries')}: ${check}: ${exampleLine(title)} (${andMore(queries, MAX_QUERIES)})`;
