import { caseKey } from '../results/cell.ts';
import { runTime } from '../results/run-time.ts';
import { agentRuns, latestQueries } from './agent-runs.ts';
import { chooseRuns } from './choose-runs.ts';
import { readQueries, readRuns } from './history-files.ts';
import type { HistoryQuery } from './history-run.ts';

/** Runs whose queries are looked at. */
const MAX_RUNS = 100;

interface PastVerdict {
  readonly query: HistoryQuery;
  readonly run: string;
  readonly ranAt: string;
}

/** The last verdicts that a history has of runs that are no longer stored. */
export interface PastVerdicts {
  /** By `caseKey`, with the run of the agent, and when that was in the form that ids of runs begin with. */
  readonly verdicts: ReadonlyMap<string, PastVerdict>;
  /** Runs that the history lists, with their queries or without. */
  readonly listed: number;
  /** They are of the branch that was named; otherwise of all branches. */
  readonly isOfBranch: boolean;
}

/** Reads what became of each query of a spec in runs that only the history knows. */
export function readPastVerdicts(
  root: string,
  of: { readonly spec: string; readonly agent: string; readonly branch: string | undefined },
  isStored: (run: string) => boolean,
): PastVerdicts {
  const { spec, agent, branch } = of;
  const all = chooseRuns(readRuns(root).lines, { spec, agent }).filter(({ id }) => !isStored(id));
  const here = branch === undefined ? [] : all.filter((run) => run.branch === branch);
  const verdicts = new Map<string, PastVerdict>();
  const runs = agentRuns(here.length > 0 ? here : all);
  for (const run of runs.slice(-MAX_RUNS).reverse())
    for (const query of latestQueries(run, ({ id }) => readQueries(root, id)?.lines ?? [])) {
      const key = caseKey(query);
      if (query.status !== 'skip' && !verdicts.has(key))
        verdicts.set(key, { query, run: run.run.id, ranAt: runTime(run.run.at) });
    }
  return { verdicts, listed: runs.length, isOfBranch: here.length > 0 };
}
