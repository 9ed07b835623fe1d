import type { HistoryRun } from './history-run.ts';

export interface RunFilter {
  readonly branch?: string | undefined;
  /** The name of the spec's file. */
  readonly spec?: string | undefined;
  readonly agent?: string | undefined;
  /** Only the newest so many. */
  readonly last?: number | undefined;
}

/** The runs that fit, the oldest first. */
export function chooseRuns(runs: readonly HistoryRun[], { branch, spec, agent, last }: RunFilter): HistoryRun[] {
  const chosen = runs.filter(
    (run) =>
      (branch === undefined || run.branch === branch) &&
      (spec === undefined || run.spec === spec) &&
      (agent === undefined || run.agent === agent),
  );
  return last === undefined ? chosen : chosen.slice(-last);
}
