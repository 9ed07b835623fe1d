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

/**
 * Number of runs to search beyond the newest complete run, for queries that it lacks: they may have
 * been removed from the spec and added again.
 */
const MAX_OLDER = 100;

export interface PastVerdict {
  readonly query: HistoryQuery;
  /** Id of the agent's run, and its position. */
  readonly run: string;
  readonly ranAt: string;
}

/** A run with failed queries that cannot be identified. */
export interface LostVerdicts {
  readonly run: string;
  readonly ranAt: string;
  readonly file: string;
  readonly bad: number;
  readonly total: number;
  /**
   * The cases that may be among them, because no newer run in the history has a verdict on them.
   */
  readonly cases: readonly string[];
}

/** The last verdicts from the history of runs that are no longer stored. */
export interface PastVerdicts {
  /** By `caseKey`. */
  readonly verdicts: ReadonlyMap<string, PastVerdict>;
  /** The same from runs without a branch, if the given branch has runs. */
  readonly ofNoBranch: ReadonlyMap<string, PastVerdict>;
  /** The newest run of all queries. */
  readonly newestWhole: HistoryRun | undefined;
  /** Number of runs in the history, with or without their queries. */
  readonly listed: number;
  /** Unreadable entries that could hold a failure. */
  readonly lost: readonly LostVerdicts[];
  /**
   * Number of unreadable lines in the list of runs, without lines of runs known otherwise and lines
   * followed by a run of all queries.
   */
  readonly lostLines: number;
}

/** The runs of a spec in a history. */
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
  /**
   * Only runs of the branch count, because there are some. Otherwise runs of all branches count.
   */
  readonly isOfBranch: boolean;
  /** Whether a run has a folder, which has more details. */
  readonly isStored: (run: string) => boolean;
}

/** Reads the last verdict of each query of a spec from runs that only the history has. */
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

/** A failure in a run without a branch counts, unless a newer run of the branch has a verdict. */
function leftOpen(lost: LostVerdicts, verdicts: PastVerdicts['verdicts']): LostVerdicts[] {
  const cases = lost.cases.filter((key) => (verdicts.get(key)?.ranAt ?? '') < lost.ranAt);
  return cases.length === 0 ? [] : [{ ...lost, cases }];
}

/** Searches from the newest run backwards until every case has a verdict. */
function lastVerdicts(
  root: string,
  runs: readonly AgentRun[],
  cases: readonly string[],
): Pick<PastVerdicts, 'verdicts' | 'lost'> {
  const verdicts = new Map<string, PastVerdict>();
  const lost: LostVerdicts[] = [];
  let open: readonly string[] = cases;
  /** The cases of the newest complete run. A case that is not among them was added later. */
  let whole: ReadonlySet<string> | undefined;
  let older = 0;
  for (const each of runs.slice(-MAX_QUERY_FILES).reverse()) {
    const { id: run, part, total } = each.run;
    const ranAt = placeOf(each.run);
    const unread = { file: '', bad: 0 };
    let isWholeRead = true;
    /** Cases with a verdict at least as new as the newest run with lost failures. */
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
      // An expected failure was decided. A skipped or unreached query was not.
      const isVerdict = query.status !== 'skip' || query.decided > 0;
      if (isVerdict && !verdicts.has(key)) verdicts.set(key, { query, run, ranAt });
    }
    open = open.filter((key) => !verdicts.has(key));
    if (part !== true && isWholeRead && queries.length > 0) whole ??= new Set(queries.map(caseKey));
    if (open.length === 0 || (whole !== undefined && ++older > MAX_OLDER)) break;
  }
  return { verdicts, lost };
}
