import { caseKey, placeOf } from '@agentci/results';
import { type AgentRun, agentRuns, latestQueries } from './agent-runs.ts';
import { chooseRuns } from './choose-runs.ts';
import {
  type HistoryLines,
  isCut,
  lostVerdicts,
  MAX_QUERY_FILES,
  queriesPath,
  readQueries,
  readRuns,
} from './history-files.ts';
import type { HistoryQuery, HistoryRun } from './history-run.ts';

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
  /** The same from runs that do not say their branch, where the one that was named has runs. */
  readonly ofNoBranch: ReadonlyMap<string, PastVerdict>;
  /** The newest run of all queries. */
  readonly newestWhole: HistoryRun | undefined;
  /** Runs that the history lists, with their queries or without. */
  readonly listed: number;
  /** What cannot be read, and could hold a failure. */
  readonly lost: readonly LostVerdicts[];
  /** Lines of the list of runs that cannot be read, of runs that are not known otherwise, where no run of all queries came after them. */
  readonly lostLines: number;
}

/** The runs of a spec that a history lists. */
export interface PastRuns {
  readonly root: string;
  readonly branch: string | undefined;
  readonly runs: readonly HistoryRun[];
  readonly hasBranch: boolean;
  readonly history: HistoryLines;
}

interface PastOf {
  readonly spec: string;
  readonly agent: string;
  readonly branch: string | undefined;
}

export function readPastRuns(root: string, { spec, agent, branch }: PastOf): PastRuns {
  const history = readRuns(root);
  const runs = chooseRuns(history.lines, { spec, agent });
  return {
    root,
    branch,
    runs,
    hasBranch: branch !== undefined && runs.some((run) => run.branch === branch),
    history,
  };
}

interface Asked {
  /** By `caseKey`. */
  readonly cases: readonly string[];
  /** Only runs of the branch count, because there are some; otherwise those of all branches do. */
  readonly isOfBranch: boolean;
  /** Runs that have a folder, which says more. */
  readonly isStored: (run: string) => boolean;
}

/** Reads what became of each query of a spec in runs that only the history knows. */
export function readPastVerdicts(
  past: PastRuns,
  { cases, isOfBranch, isStored }: Asked,
): PastVerdicts {
  const { root, branch, runs: ours, history } = past;
  const all = ours.filter(({ id }) => !isStored(id));
  const isHere = (run: HistoryRun): boolean => run.branch === branch;
  const runs = agentRuns(isOfBranch ? all.filter(isHere) : all);
  const found = lastVerdicts(root, runs, cases);
  const nameless = isOfBranch ? agentRuns(all.filter((run) => run.branch === undefined)) : [];
  const ofNoBranch = lastVerdicts(root, nameless, cases);
  const known = new Set(history.lines.map(({ id }) => id));
  const lines = history.unread.filter((id) => id === undefined || !(isStored(id) || known.has(id)));
  const isCovered = ours.some(
    (run) =>
      history.belowDamage.has(run.id) &&
      run.part !== true &&
      run.judges === undefined &&
      (branch === undefined || isHere(run)),
  );
  return {
    verdicts: found.verdicts,
    lost: [...found.lost, ...ofNoBranch.lost.flatMap((each) => leftOpen(each, found.verdicts))],
    ofNoBranch: ofNoBranch.verdicts,
    newestWhole: runs.findLast(({ run }) => run.part !== true)?.run,
    listed: runs.length,
    lostLines: isCovered ? 0 : lines.length,
  };
}

/** What failed in a run that does not say its branch counts, unless a newer one that does gives a verdict. */
function leftOpen(lost: LostVerdicts, verdicts: PastVerdicts['verdicts']): LostVerdicts[] {
  const cases = lost.cases.filter((key) => (verdicts.get(key)?.ranAt ?? '') < lost.ranAt);
  return cases.length === 0 ? [] : [{ ...lost, cases }];
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
    let isWholeRead = true;
    /** What the judgements say that are at least as new as the newest in which failures are lost. */
    const sure = new Set<string>();
    const queries = latestQueries(each, (judgement) => {
      const read = readQueries(root, judgement.id);
      const bad = lostVerdicts(judgement, read);
      if (isCut(judgement, read)) isWholeRead = false;
      if (unread.bad === 0) for (const query of read?.lines ?? []) sure.add(caseKey(query));
      if (bad > unread.bad) Object.assign(unread, { file: queriesPath(root, judgement.id), bad });
      return read?.lines ?? [];
    });
    const doubtful = open.filter((key) => !sure.has(key) && (whole?.has(key) ?? true));
    if (unread.bad > 0 && doubtful.length > 0)
      lost.push({ ...unread, run, ranAt, total, cases: doubtful });
    for (const query of queries) {
      const key = caseKey(query);
      // One that failed as expected was decided; one that was left out or not reached was not.
      const isVerdict = query.status !== 'skip' || query.decided > 0;
      if (isVerdict && !verdicts.has(key)) verdicts.set(key, { query, run, ranAt });
    }
    open = open.filter((key) => !verdicts.has(key));
    if (part !== true && isWholeRead && queries.length > 0) whole ??= new Set(queries.map(caseKey));
    if (open.length === 0 || (whole !== undefined && ++older > MAX_OLDER)) break;
  }
  return { verdicts, lost };
}
