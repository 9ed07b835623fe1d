import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { historyRoot } from '../history/history-files.ts';
import {
  type LostVerdicts,
  type PastRuns,
  type PastVerdict,
  type PastVerdicts,
  readPastRuns,
  readPastVerdicts,
} from '../history/past-verdicts.ts';
import { escapeTerminalLine } from '../kit/escape.ts';
import { UserError } from '../kit/user-error.ts';
import { andMore, plural } from '../kit/words.ts';
import { type CaseName, caseKey, caseText } from '../results/cell.ts';
import { placeOf } from '../results/run-order.ts';
import type { CheckStatus, RunResult } from '../results/run-result.ts';
import type { Suite } from '../spec/suite.ts';
import { journalPath } from '../store/journal.ts';
import {
  isDamage,
  isPart,
  type LatestVerdicts,
  latestVerdicts,
  listRuns,
  readRun,
  type StoredRun,
} from '../store/stored-runs.ts';
import { gitState } from './git-state.ts';
import type { Io } from './io.ts';
import { folderOf, isRunOf } from './spec-folders.ts';
import { isOn } from './stored-run.ts';

/** The last verdict on every case of a spec, from stored runs and from the history. */
interface LastVerdicts {
  readonly previous: LatestVerdicts | undefined;
  readonly past: PastVerdicts;
  /** Whether a stored run counts: of the spec, not known as damaged, and of the branch that is checked out where that has runs. */
  readonly isThere: (run: StoredRun) => boolean;
  /** What is wrong with stored runs whose verdicts were taken from the history. */
  readonly damaged: readonly UserError[];
  readonly statusOf: (key: string) => CheckStatus | undefined;
  /** Runs of the history whose verdicts on cases of the suite are damaged or gone, and not known from a newer run. */
  readonly lost: readonly LostVerdicts[];
  /** Runs that do not say their branch and are of another opinion than the newest that do. */
  readonly doubtful: readonly string[];
}

/** Which runs of a spec count for what is checked out. */
export interface CountedRuns {
  readonly history: PastRuns;
  /** Only those of the branch, because there are some; otherwise those of all branches do. */
  readonly isOfBranch: boolean;
  /** Whether a stored run is among them. */
  readonly isHere: (run: StoredRun) => boolean;
}

export function runsThatCount(root: string, suite: Suite, io: Io): CountedRuns {
  const folder = folderOf(suite, io);
  const { branch } = gitState(folder, io);
  const history = readPastRuns(historyRoot(folder), { spec: basename(suite.file), agent: suite.agent, branch });
  const isOfBranch =
    branch !== undefined &&
    (history.hasBranch || listRuns(root).some((run) => isRunOf(suite, run) && run.header.branch === branch));
  const isThere = isOn(isOfBranch ? branch : undefined);
  return { history, isOfBranch, isHere: (run) => isRunOf(suite, run) && isThere(run) };
}

/**
 * The history knows verdicts of runs that are no longer stored: where it has a newer one, that counts. Runs of the branch that is checked out
 * count, or those of all branches where it has none.
 */
function lastVerdicts(root: string, suite: Suite, io: Io): LastVerdicts {
  const runs = listRuns(root);
  const { history, isOfBranch, isHere } = runsThatCount(root, suite, io);
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
  const isNameless = (run: StoredRun): boolean => isRunOf(suite, run) && run.header.branch === undefined;
  const nameless = isOfBranch ? storedVerdicts(isNameless) : undefined;
  const stored = new Set(runs.map(({ id }) => id).filter((id) => !damaged.has(id)));
  const cases = suite.queries.filter(({ skip }) => skip === undefined).map(caseKey);
  const past = readPastVerdicts(history, { cases, isOfBranch, isStored: (id) => stored.has(id) });
  const verdictOf = (key: string): Verdict => newer(verdictIn(previous, key), pastVerdict(past.verdicts.get(key)));
  /** A newer verdict of a run of which it is not known on what branch it was. */
  const doubtOf = (key: string): Verdict | undefined => {
    const known = verdictOf(key);
    const other = newer(verdictIn(nameless, key), pastVerdict(past.ofNoBranch.get(key)));
    return other.ranAt > known.ranAt && isBad(other.status) !== isBad(known.status) ? other : undefined;
  };
  const isOpen = (key: string, at: string): boolean => (previous?.ranAt.get(key) ?? previous?.wholeAt ?? '') < at;
  return {
    previous,
    past,
    isThere: (run) => isHere(run) && !damaged.has(run.id),
    damaged: [...damaged.values()],
    // Such a run may be of this branch: what failed in it counts, and what passed in it makes nothing good.
    statusOf: (key) => {
      const { status } = verdictOf(key);
      const doubt = doubtOf(key)?.status;
      return isBad(doubt) ? doubt : status;
    },
    lost: past.lost.filter(({ cases: open, ranAt }) => open.some((key) => isOpen(key, ranAt))),
    doubtful: [...new Set(cases.flatMap((key) => doubtOf(key)?.run ?? []))],
  };
}

/** What became of a case, in which run; the place of a run that there was not is before all others. */
interface Verdict {
  readonly status?: CheckStatus | undefined;
  readonly run?: string | undefined;
  readonly ranAt: string;
}

const verdictIn = (found: LatestVerdicts | undefined, key: string): Verdict => ({
  status: found?.results.get(key)?.status,
  run: found?.runs.get(key),
  ranAt: found?.ranAt.get(key) ?? '',
});

const pastVerdict = (found: PastVerdict | undefined): Verdict =>
  found === undefined ? { ranAt: '' } : { status: found.query.status, run: found.run, ranAt: found.ranAt };

const newer = (stored: Verdict, past: Verdict): Verdict => (past.ranAt > stored.ranAt ? past : stored);

const isBad = (status: CheckStatus | undefined): boolean => status === 'fail' || status === 'error';

/**
 * Whether the last verdict on every query of a suite is good, and so was every check over the whole run the last time all queries were run:
 * a run of a part says nothing about those.
 */
export function isSuiteGood(root: string, suite: Suite, io: Io): boolean {
  try {
    return isKnownGood(root, suite, io);
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

function isKnownGood(root: string, suite: Suite, io: Io): boolean {
  const { statusOf, lost, past, isThere } = lastVerdicts(root, suite, io);
  if (lost.length + past.lostLines > 0) return false;
  const isGood = (status: CheckStatus | undefined): boolean => status !== undefined && !isBad(status);
  if (!suite.queries.every((query) => isGood(statusOf(caseKey(query))))) return false;
  const whole = wholeRun(root, isThere);
  return whole !== undefined && readRun(root, whole.id).checks.every(({ status }) => isGood(status));
}

/** The newest run of all queries. */
const wholeRun = (root: string, isThere: (run: StoredRun) => boolean): StoredRun | undefined =>
  listRuns(root).find((run) => run.finished && isThere(run) && !isPart(run.header));

/** A run of all queries in which none failed, and checks over the whole run did. */
interface FailedGate {
  readonly run: string;
  /** Their ids; the history does not keep them. */
  readonly checks: readonly string[];
}

const badChecks = ({ checks }: Pick<RunResult, 'checks'>): string[] =>
  checks.filter(({ status }) => isBad(status)).map(({ id }) => id);

function failedGate(root: string, { isThere, past }: LastVerdicts): FailedGate | undefined {
  const stored = wholeRun(root, isThere);
  const { newestWhole } = past;
  if (newestWhole !== undefined && placeOf(newestWhole) > (stored?.ranAt ?? ''))
    return newestWhole.exit !== 0 && newestWhole.failed + newestWhole.errors === 0
      ? { run: newestWhole.id, checks: [] }
      : undefined;
  if (stored === undefined) return undefined;
  const checks = badChecks(readRun(root, stored.id));
  return checks.length === 0 ? undefined : { run: stored.id, checks };
}

function gateFailed(option: string, { run, checks }: FailedGate): UserError {
  const what =
    checks.length === 0
      ? 'a check over the whole run did'
      : `${plural(checks.length, 'check')} over the whole run did: ${andMore(checks, 3)}`;
  return new UserError('NOTHING_FAILED', `${option}: no query failed in run ${run}, but ${what}`, {
    hint: `Run all queries again, without ${option}: such a check cannot be decided by some of them.`,
  });
}

/** The cases of a spec whose last verdict was bad, for `--failed`. */
export function failedCases(root: string, suite: Suite, io: Io): CaseName[] {
  const found = lastVerdicts(root, suite, io);
  const { previous, past, statusOf, lost, doubtful, damaged } = found;
  for (const { message } of damaged)
    io.stderr.write(`agentci: note: ${escapeTerminalLine(message)}. Its verdicts are taken from the history\n`);
  if (lost.length > 0 && (previous !== undefined || past.verdicts.size > 0 || existsSync(lost[0]!.file)))
    throw damagedVerdicts(lost, io);
  if (past.lostLines > 0) throw damagedList(past.lostLines, suite, io);
  if (previous === undefined && past.verdicts.size === 0) throw noVerdicts(suite, past.listed);
  if (doubtful.length > 0)
    io.stderr.write(
      `agentci: note: ${plural(doubtful.length, 'run')} ${doubtful.length === 1 ? 'does not say its' : 'do not say their'} branch: ${andMore(doubtful, 3)}. What failed there counts as failed here; what passed there does not count\n`,
    );
  const hasFailed = (key: string): boolean => isBad(statusOf(key));
  const failed = suite.queries.filter((query) => hasFailed(caseKey(query)));
  refuseGone(
    suite,
    failed,
    [...(previous?.current ?? [])].filter(hasFailed).map((key) => previous!.results.get(key)!),
  );
  const cases = failed.map(({ id, cell }) => (cell === undefined ? { id } : { id, cell }));
  if (cases.length === 0) {
    const unseen = suite.queries.filter((query) => statusOf(caseKey(query)) === undefined).length;
    const newest = [...past.verdicts.values()].reduce((a, b) => (b.ranAt > a.ranAt ? b : a), {
      run: previous?.id ?? '',
      ranAt: previous?.age ?? '',
    }).run;
    const gate = failedGate(root, found);
    if (gate !== undefined) throw gateFailed('--failed', gate);
    throw new UserError(
      'NOTHING_FAILED',
      `--failed: the last verdict on every query${unseen === 0 ? '' : ` but ${unseen} that had none`} was good (newest run: ${newest}), so there is nothing to run again`,
    );
  }
  return cases;
}

function damagedVerdicts(lost: readonly LostVerdicts[], io: Io): UserError {
  const { run, file, bad, total } = lost[0]!;
  const more = lost.length === 1 ? '' : `; the same goes for ${plural(lost.length - 1, 'older run')}`;
  const what = existsSync(file) ? 'is damaged' : 'is gone';
  return new UserError(
    'HISTORY_DAMAGED',
    `--failed: ${bad} of ${total} queries went wrong in run ${run}, and it cannot be read which: ${relative(io.cwd, file)} ${what}${more}`,
    { hint: 'Run it once without --failed.' },
  );
}

const damagedList = (lines: number, suite: Suite, io: Io): UserError =>
  new UserError(
    'HISTORY_DAMAGED',
    `--failed: ${plural(lines, 'line')} of ${relative(io.cwd, join(historyRoot(folderOf(suite, io)), 'runs.jsonl'))} cannot be read, and no run of all queries came after: what failed there is not known`,
    { hint: 'Run it once without --failed.' },
  );

function noVerdicts({ file }: Suite, listed: number): UserError {
  const what =
    listed === 0
      ? `${file} has not been run here before`
      : `the history lists ${plural(listed, 'run')} of ${file}, but neither the runs nor the verdicts on their queries are here`;
  return new UserError('NO_PREVIOUS_RUN', `--failed: ${what}`, { hint: 'Run it once without --failed.' });
}

/** The cases of a spec that were bad in the run of a folder, for `--failed-from`. */
export function failedCasesIn(dir: string, suite: Suite): CaseName[] {
  if (!existsSync(dir)) throw new UserError('RUN_MISSING', `--failed-from: there is no folder ${dir}`);
  if (!existsSync(join(dir, 'run.json')) && !existsSync(journalPath(dir)))
    throw new UserError('RUN_MISSING', `--failed-from: ${dir} is not the folder of a run`, {
      hint: 'Name the folder of a stored run, such as .agentci/runs/ID, or one that agentci merge has written.',
    });
  const run = readRun(dirname(dir), basename(dir));
  if (run.agent !== suite.agent)
    throw new UserError(
      'RUN_OTHER_SPEC',
      `--failed-from: ${dir} is a run of agent "${run.agent}", not of "${suite.agent}"`,
    );
  const bad = run.results.filter(({ status }) => status === 'fail' || status === 'error');
  const gates = badChecks(run);
  if (bad.length === 0 && gates.length > 0) throw gateFailed('--failed-from', { run: run.run_id, checks: gates });
  if (bad.length === 0)
    throw new UserError(
      'NOTHING_FAILED',
      `--failed-from: nothing failed in run ${run.run_id}, so there is nothing to run again`,
    );
  refuseGone(suite, [], bad);
  return bad.map(({ id, cell }) => (cell === undefined ? { id } : { id, cell }));
}

/** What failed and is no longer there cannot be run again, and a green run of the rest would look as if it had been. */
function refuseGone(suite: Suite, left: readonly CaseName[], failed: readonly CaseName[]): void {
  const known = new Set(suite.queries.map(caseKey));
  const gone = failed.filter((each) => !known.has(caseKey(each)));
  if (gone.length === 0) return;
  const names = andMore(
    gone.map((each) => JSON.stringify(caseText(each))),
    5,
  );
  throw new UserError(
    'FAILED_GONE',
    `--failed: ${names} failed last time and ${gone.length === 1 ? 'is' : 'are'} no longer in ${suite.file}`,
    {
      hint:
        left.length === 0
          ? 'Run it once without --failed.'
          : `Run it once without --failed. Still there: ${andMore(left.map(caseText), 5)}`,
    },
  );
}
