import { caseKey } from '../results/cell.ts';
import { placeOf } from '../results/run-order.ts';
import { type AgentRun, agentRuns, latestQueries } from './agent-runs.ts';
import { chooseRuns } from './choose-runs.ts';
import { lostVerdicts, MAX_QUERY_FILES, queriesPath, readQueries, readRuns } from './history-files.ts';
import type { HistoryQuery } from './history-run.ts';

/** Past the newest run of all queries, for those that were not in it: they may have been taken out of the spec and put back. */
const MAX_OLDER = 100;

export interface PastVerdict {
  readonly query: HistoryQuery;
  /** The run of the agent, and its place. */
  readonly run: string;
  readonly ranAt: string;
}

/** A run in which queries failed, and of which it cannot be read which ones. */
export interface LostVerdicts {
  readonly run: string;
  readonly ranAt: string;
  readonly file: string;
  readonly bad: number;
  readonly total: number;
  /** The cases that may be among them: no newer run in the history says what became of them. */
  readonly cases: readonly string[];
}

/** The last verdicts that a history has of runs that are no longer stored. */
export interface PastVerdicts {
  /** By `caseKey`. */
  readonly verdicts: ReadonlyMap<string, PastVerdict>;
  /** The same from runs that do not say their branch, where one was named that has runs. */
  readonly ofNoBranch: ReadonlyMap<string, PastVerdict>;
  /** Runs that the history lists, with their queries or without. */
  readonly listed: number;
  /** They are of the branch that was named; otherwise of all branches. */
  readonly isOfBranch: boolean;
  /** What cannot be read, and could hold a failure. */
  readonly lost: readonly LostVerdicts[];
  /** Lines of the list of runs that cannot be read, where no run of all queries came after them. */
  readonly lostLines: number;
}

interface PastOf {
  readonly spec: string;
  readonly agent: string;
  readonly branch: string | undefined;
  /** By `caseKey`, the cases that are asked about. */
  readonly cases: readonly string[];
}

/** Reads what became of each query of a spec in runs that only the history knows. */
export function readPastVerdicts(root: string, of: PastOf, isStored: (run: string) => boolean): PastVerdicts {
  const { spec, agent, branch, cases } = of;
  const { lines, damaged, belowDamage } = readRuns(root);
  const ours = chooseRuns(lines, { spec, agent });
  const all = ours.filter(({ id }) => !isStored(id));
  const here = branch === undefined ? [] : all.filter((run) => run.branch === branch);
  const isOfBranch = here.length > 0;
  const runs = agentRuns(isOfBranch ? here : all);
  const found = lastVerdicts(root, runs, cases);
  const ofNoBranch = isOfBranch ? agentRuns(all.filter((run) => run.branch === undefined)) : [];
  const isCovered = ours.some(
    (run) =>
      belowDamage.has(run.id) &&
      run.part !== true &&
      run.judges === undefined &&
      (branch === undefined || (run.branch ?? branch) === branch),
  );
  return {
    ...found,
    ofNoBranch: lastVerdicts(root, ofNoBranch, cases).verdicts,
    listed: runs.length,
    isOfBranch,
    lostLines: isCovered ? 0 : damaged,
  };
}

/** From the newest run back, until every case has a verdict. */
function lastVerdicts(
  root: string,
  runs: readonly AgentRun[],
  cases: readonly string[],
): Pick<PastVerdicts, 'verdicts' | 'lost'> {
  const verdicts = new Map<string, PastVerdict>();
  const lost: LostVerdicts[] = [];
  let open: readonly string[] = cases;
  /** The cases of the newest run of all queries: one that is not among them was added since. */
  let whole: ReadonlySet<string> | undefined;
  let older = 0;
  for (const each of runs.slice(-MAX_QUERY_FILES).reverse()) {
    const { id: run, part, total } = each.run;
    const ranAt = placeOf(each.run);
    const unread = { file: '', bad: 0 };
    const queries = latestQueries(each, (judgement) => {
      const read = readQueries(root, judgement.id);
      const bad = lostVerdicts(judgement, read);
      if (bad > unread.bad) Object.assign(unread, { file: queriesPath(root, judgement.id), bad });
      return read?.lines ?? [];
    });
    for (const query of queries) {
      const key = caseKey(query);
      if (query.status !== 'skip' && !verdicts.has(key)) verdicts.set(key, { query, run, ranAt });
    }
    open = open.filter((key) => !verdicts.has(key));
    const doubtful = open.filter((key) => whole?.has(key) ?? true);
    if (unread.bad > 0 && doubtful.length > 0) lost.push({ ...unread, run, ranAt, total, cases: doubtful });
    if (part !== true && unread.bad === 0 && queries.length > 0) whole ??= new Set(queries.map(caseKey));
    if (open.length === 0 || (whole !== undefined && ++older > MAX_OLDER)) break;
  }
  return { verdicts, lost };
}
