import { andMore, clip, plural } from '@agentci/lib/text';
import type { RunResult } from '@agentci/results';
import { type FailureGroup, GROUPS_FROM, groupFailures } from '@agentci/results';

const MAX_GROUPS = 5;
const MAX_QUERIES = 4;
const MAX_EXAMPLE = 160;
const MAX_CELL = 60;

/** Groups to show in a report. None if a list of the failures says as much. */
export function shownGroups(run: RunResult): FailureGroup[] {
  const failures = run.summary.failed + run.summary.errors;
  if (failures < GROUPS_FROM) return [];
  return groupFailures(run).slice(0, MAX_GROUPS);
}

/** The first line of a message. */
export const exampleLine = (example: string): string =>
  clip(example.split('\n', 1)[0]!, MAX_EXAMPLE);

/**
 * `7 queries`. With a matrix also where: `7 queries in model=a`, `7 queries in each of 3 cells`, or
 * `7 queries in 3 cells, 12 failures`.
 */
export function groupCount({
  queries,
  cells,
  cases,
}: Pick<FailureGroup, 'queries' | 'cells' | 'cases'>): string {
  const counted = plural(queries.length, 'query', 'queries');
  if (cells === undefined) return counted;
  if (cells.length === 1) return `${counted} in ${clip(cells[0]!, MAX_CELL)}`;
  if (cases === queries.length * cells.length) return `${counted} in each of ${cells.length} cells`;
  return `${counted} in ${cells.length} cells, ${plural(cases!, 'failure')}`;
}

/**
 * `7 queries: correctness.expected_in_answer: found 0 of 1 expected term; missing: … (a, b and 5
 * more)`.
 */
export const groupLine = (group: FailureGroup): string =>
  `${groupCount(group)}: ${group.check}: ${exampleLine(group.title)} (${andMore(group.queries, MAX_QUERIES)})`;
