import type { HistoryRun } from './history-run.ts';

export interface RunFilter {
  readonly branch?: string | undefined;
  /** The name of the spec's file. */
  readonly spec?: string | undefined;
  readonly agent?: string | undefined;
  /** Only the newest so many. */
  readonly last?: number | undefined;
}

/** Stands for every branch where one is named. */
export const ALL_BRANCHES = '*';

/**
 * The branch a question about now is about: the one that is checked out where there are runs on it, else that of the newest run. A
 * green run of a branch does not make a failure on another one go away. Undefined: no branch is known.
 */
export const usualBranch = (
  runs: readonly HistoryRun[],
  checkedOut: string | undefined,
): string | undefined =>
  checkedOut !== undefined && runs.some(({ branch }) => branch === checkedOut)
    ? checkedOut
    : runs.at(-1)?.branch;

/** The runs that fit, the oldest first. */
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
