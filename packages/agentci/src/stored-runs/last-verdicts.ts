import { basename } from 'node:path';
import type { UserError } from '@agentci/lib/problems';
import type { CheckStatus, QueryResult } from '@agentci/results';
import { caseKey, exitCode } from '@agentci/results';
import {
  historyRoot,
  isPart,
  type LatestVerdicts,
  type LostVerdicts,
  latestVerdicts,
  listRuns,
  type PastRuns,
  type PastVerdict,
  type PastVerdicts,
  readPastRuns,
  readPastVerdicts,
  type StoredRun,
} from '@agentci/run';
import type { Query, Suite } from '@agentci/spec';
import { gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { folderOf, isRunOf } from './spec-folders.ts';
import { isOn } from './stored-run.ts';

/** The verdict on a case, and its run. A run that did not happen comes before all others. */
interface Verdict {
  /** Undefined without a verdict. */
  readonly isBad?: boolean | undefined;
  readonly run?: string | undefined;
  readonly ranAt: string;
}

/** The last verdict on every case of a spec, from stored runs and the history. */
export interface LastVerdicts {
  readonly previous: LatestVerdicts | undefined;
  readonly past: PastVerdicts;
  /**
   * Whether a stored run counts: it has the same spec, is not damaged, and is on the checked-out
   * branch if that branch has runs.
   */
  readonly isThere: (run: StoredRun) => boolean;
  /** Errors of stored runs whose verdicts were taken from the history. */
  readonly damaged: readonly UserError[];
  /** Undefined if a case has no verdict. */
  readonly isBad: (key: string) => boolean | undefined;
  /** Runs of the history whose verdicts are damaged or gone, and not replaced by a newer run. */
  readonly lost: readonly LostVerdicts[];
  /** Runs without a branch whose verdict differs from the newest run with one. */
  readonly doubtful: readonly string[];
}

/** The runs of a spec that count for the checked-out branch. */
export interface CountedRuns {
  readonly history: PastRuns;
  /** True if the branch has runs, so only those count. Otherwise, runs of all branches count. */
  readonly isOfBranch: boolean;
  /** Whether a stored run counts. */
  readonly isHere: (run: StoredRun) => boolean;
}

export function runsThatCount(
  root: string,
  suite: Suite,
  { io, ofAllBranches = false }: { readonly io: Io; readonly ofAllBranches?: boolean },
): CountedRuns {
  const folder = folderOf(suite, io);
  const { branch } = gitState(folder, io);
  const history = readPastRuns(historyRoot(folder), {
    spec: basename(suite.file),
    agent: suite.agent,
    branch,
  });
  const isOfBranch =
    !ofAllBranches &&
    branch !== undefined &&
    (history.hasBranch ||
      listRuns(root).some((run) => isRunOf(suite, run) && run.header.branch === branch));
  const isThere = isOn(isOfBranch ? branch : undefined);
  return { history, isOfBranch, isHere: (run) => isRunOf(suite, run) && isThere(run) };
}

interface Asked {
  readonly io: Io;
  /** Warnings and unmeasured checks are bad. */
  readonly strict?: boolean | undefined;
  /** Includes runs of other branches. */
  readonly ofAllBranches?: boolean;
}

/**
 * Reads the last verdicts. The history has verdicts of runs that are no longer stored. If it has a
 * newer one, that counts. Uses runs of the checked-out branch, or of all branches if it has none.
 */
export function lastVerdicts(
  root: string,
  suite: Suite,
  { io, strict = false, ofAllBranches = false }: Asked,
): LastVerdicts {
  const runs = listRuns(root);
  const { history, isOfBranch, isHere } = runsThatCount(root, suite, { io, ofAllBranches });
  const rules = new Map(suite.queries.map((query) => [caseKey(query), query]));
  const damaged = new Map<string, UserError>();
  const listed = new Set(history.runs.map(({ id }) => id));
  const onDamaged = (id: string, error: UserError): void => {
    if (!listed.has(id)) throw error;
    damaged.set(id, error);
  };
  const storedVerdicts = (isThere: (run: StoredRun) => boolean): LatestVerdicts | undefined =>
    latestVerdicts(root, isThere, rules, { onDamaged });
  const previous = storedVerdicts(isHere);
  const isNameless = (run: StoredRun): boolean =>
    isRunOf(suite, run) && run.header.branch === undefined;
  const nameless = isOfBranch ? storedVerdicts(isNameless) : undefined;
  const stored = new Set(runs.map(({ id }) => id).filter((id) => !damaged.has(id)));
  const cases = suite.queries.filter(({ skip }) => skip === undefined).map(caseKey);
  const past = readPastVerdicts(history, { cases, isOfBranch, isStored: (id) => stored.has(id) });
  const judging = { rules, strict };
  const verdictOf = (key: string): Verdict =>
    newer(storedVerdict(previous, key, judging), pastVerdict(past.verdicts.get(key), key, judging));
  /** A newer verdict of a run with an unknown branch. */
  const doubtOf = (key: string): Verdict | undefined => {
    const known = verdictOf(key);
    const other = newer(
      storedVerdict(nameless, key, judging),
      pastVerdict(past.ofNoBranch.get(key), key, judging),
    );
    return other.ranAt > known.ranAt && (other.isBad ?? false) !== (known.isBad ?? false)
      ? other
      : undefined;
  };
  const isOpen = (key: string, at: string): boolean =>
    (previous?.ranAt.get(key) ?? previous?.wholeAt ?? '') < at;
  return {
    previous,
    past,
    isThere: (run) => isHere(run) && !damaged.has(run.id),
    damaged: [...damaged.values()],
    // Such a run may be of this branch, so its failures count and its passes do not.
    isBad: (key) => (doubtOf(key)?.isBad ? true : verdictOf(key).isBad),
    lost: past.lost.filter(({ cases: open, ranAt }) => open.some((key) => isOpen(key, ranAt))),
    doubtful: [...new Set(cases.flatMap((key) => doubtOf(key)?.run ?? []))],
  };
}

interface Judging {
  readonly rules: ReadonlyMap<string, Suite['queries'][number]>;
  readonly strict: boolean;
}

function storedVerdict(
  found: LatestVerdicts | undefined,
  key: string,
  { rules, strict }: Judging,
): Verdict {
  const result = found?.results.get(key);
  return {
    isBad:
      result === undefined ? undefined : isBadResult(result, { query: rules.get(key), strict }),
    run: found?.runs.get(key),
    ranAt: found?.ranAt.get(key) ?? '',
  };
}

const pastVerdict = (
  found: PastVerdict | undefined,
  key: string,
  { rules, strict }: Judging,
): Verdict =>
  found === undefined
    ? { ranAt: '' }
    : {
        isBad: isBadPast(found, { query: rules.get(key), strict }),
        run: found.run,
        ranAt: found.ranAt,
      };

const newer = (stored: Verdict, past: Verdict): Verdict =>
  past.ranAt > stored.ranAt ? past : stored;

export const isBadStatus = (status: CheckStatus): boolean =>
  status === 'fail' || status === 'error';

/** The current case of the spec and its rules. */
interface Rules {
  readonly query: Query | undefined;
  readonly strict: boolean;
}

/**
 * A failure counts once its query is no longer marked `xfail`. Judged like a shard, because only whole runs must
 * have checks.
 */
export function isBadResult(result: QueryResult, { query, strict }: Rules): boolean {
  if (result.xfail !== undefined && query?.xfail === undefined && isBadStatus(result.xfail.status))
    return true;
  return exitCode({ results: [result], checks: [] }, { strict, isShard: true }) !== 0;
}

/** The history does not store unmeasured checks. */
const isBadPast = ({ query: { status } }: PastVerdict, { query, strict }: Rules): boolean =>
  isBadStatus(status) ||
  (status === 'skip' && query?.xfail === undefined) ||
  (strict && status === 'warn');

/** The newest run of all queries. */
export const wholeRun = (
  root: string,
  isThere: (run: StoredRun) => boolean,
): StoredRun | undefined =>
  listRuns(root).find((run) => run.finished && isThere(run) && !isPart(run.header));
