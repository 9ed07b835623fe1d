import type { HistoryRun } from './history-run.ts';

export interface RunFilter {
  readonly branch?: string | undefined;
  /** File name of the spec. */
  readonly spec?: string | undefined;
  readonly agent?: string | undefined;
  /** Only the newest N runs. */
  readonly last?: number | undefined;
}

/** Matches every branch. */
export const ALL_BRANCHES = '*';

/**
 * The default branch for questions about the present: the checked-out branch if it has runs,
 * otherwise the branch of the newest run. A green run on one branch does not resolve a failure on
 * another. Undefined if no branch is known.
 */
export const usualBranch = (
  runs: readonly HistoryRun[],
  checkedOut: string | undefined,
): string | undefined =>
  checkedOut !== undefined && runs.some(({ branch }) => branch === checkedOut)
    ? checkedOut
    : runs.at(-1)?.branch;

/** The matching runs, oldest first. */
export function chooseRuns(
  runs: readonly HistoryRun[],
  { branch, spec, agent, last }: RunFilter,
): HistoryRun[] {
  const chosen = runs.filter(
    (run) =>
      (branch === undefined || run.branch === branch) &&
      (spec === undefined || run.spec === spec) &&
      (agent === undefined || run.agent === agent),
  );
  return last === undefined ? chosen : chosen.slice(-last);
}
