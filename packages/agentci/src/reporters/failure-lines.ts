import { andMore, plural } from '../kit/words.ts';
import { type FailureGroup, GROUPS_FROM, groupFailures } from '../results/failure-groups.ts';
import type { RunResult } from '../results/run-result.ts';

const MAX_GROUPS = 5;
const MAX_QUERIES = 4;

/** The groups worth showing in a report: none where a list of the failures says as much. */
export function shownGroups(run: RunResult): FailureGroup[] {
  const failures = run.summary.failed + run.summary.errors;
  if (failures < GROUPS_FROM) return [];
  return groupFailures(run).slice(0, MAX_GROUPS);
}

/** `7 queries: correctness.expected_in_answer: found # of # expected term (a, b and 5 more)`. */
export const groupLine = ({ check, pattern, queries }: FailureGroup): string =>
  `${plural(queries.length, 'query', 'queries')}: ${check}: ${pattern} (${andMore(queries, MAX_QUERIES)})`;
