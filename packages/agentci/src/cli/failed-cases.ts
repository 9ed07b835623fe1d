import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { historyRoot } from '../history/history-files.ts';
import { type LostVerdicts, type PastVerdict, type PastVerdicts, readPastVerdicts } from '../history/past-verdicts.ts';
import { UserError } from '../kit/user-error.ts';
import { andMore, plural } from '../kit/words.ts';
import { type CaseName, caseKey, caseText } from '../results/cell.ts';
import type { CheckStatus } from '../results/run-result.ts';
import type { Suite } from '../spec/suite.ts';
import {
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
import { onBranch } from './stored-run.ts';

/** The last verdict on every case of a spec, from stored runs and from the history. */
interface LastVerdicts {
  readonly previous: LatestVerdicts | undefined;
  readonly past: PastVerdicts;
  readonly statusOf: (key: string) => CheckStatus | undefined;
  /** Runs of the history whose verdicts on cases of the suite are damaged or gone, and not known from a newer run. */
  readonly lost: readonly LostVerdicts[];
  /** Runs that do not say their branch and are of another opinion than the newest that do. */
  readonly doubtful: readonly string[];
}

/** The history knows verdicts of runs that are no longer stored: where it has a newer one, that counts. */
function lastVerdicts(root: string, suite: Suite, io: Io): LastVerdicts {
  const folder = folderOf(suite, io);
  const { branch } = gitState(folder, io);
  const isOurs = (run: StoredRun): boolean => isRunOf(suite, run);
  const stored = new Set(listRuns(root).map(({ id }) => id));
  const cases = suite.queries.filter(({ skip }) => skip === undefined).map(caseKey);
  const of = { spec: basename(suite.file), agent: suite.agent, branch, cases };
  const past = readPastVerdicts(historyRoot(folder), of, (id) => stored.has(id));
  const isHere = onBranch(root, isOurs, branch, { isStrict: past.isOfBranch });
  const previous = latestVerdicts(root, isHere, new Map(suite.queries.map((query) => [caseKey(query), query])));
  const verdictOf = (key: string): { readonly status?: CheckStatus | undefined; readonly ranAt: string } => {
    const known = past.verdicts.get(key);
    const ranAt = previous?.ranAt.get(key) ?? '';
    return known !== undefined && known.ranAt > ranAt
      ? { status: known.query.status, ranAt: known.ranAt }
      : { status: previous?.results.get(key)?.status, ranAt };
  };
  /** A newer verdict of a run of which it is not known on what branch it was. */
  const doubtOf = (key: string): PastVerdict | undefined => {
    const { status, ranAt } = verdictOf(key);
    const other = past.ofNoBranch.get(key);
    return other !== undefined && other.ranAt > ranAt && isBad(other.query.status) !== isBad(status)
      ? other
      : undefined;
  };
  const isOpen = (key: string, at: string): boolean => (previous?.ranAt.get(key) ?? previous?.wholeAt ?? '') < at;
  return {
    previous,
    past,
    // Such a run may be of this branch: what failed in it counts, and what passed in it makes nothing good.
    statusOf: (key) => {
      const { status } = verdictOf(key);
      const doubt = doubtOf(key)?.query.status;
      return isBad(doubt) ? doubt : status;
    },
    lost: past.lost.filter(({ cases: open, ranAt }) => open.some((key) => isOpen(key, ranAt))),
    doubtful: [...new Set(cases.flatMap((key) => doubtOf(key)?.run ?? []))],
  };
}

const isBad = (status: CheckStatus | undefined): boolean => status === 'fail' || status === 'error';

/**
 * Whether the last verdict on every query of a suite is good, and so was every check over the whole run the last time all queries were run:
 * a run of a part says nothing about those.
 */
export function isSuiteGood(root: string, suite: Suite, io: Io): boolean {
  const { statusOf, lost, past } = lastVerdicts(root, suite, io);
  if (lost.length + past.lostLines > 0) return false;
  const isGood = (status: CheckStatus | undefined): boolean => status !== undefined && !isBad(status);
  if (!suite.queries.every((query) => isGood(statusOf(caseKey(query))))) return false;
  const { branch } = gitState(folderOf(suite, io), io);
  const isHere = onBranch(root, (run) => isRunOf(suite, run), branch);
  const whole = listRuns(root).find((run) => run.finished && isHere(run) && !isPart(run.header));
  return whole !== undefined && readRun(root, whole.id).checks.every(({ status }) => isGood(status));
}

/** The cases of a spec whose last verdict was bad, for `--failed`. */
export function failedCases(root: string, suite: Suite, io: Io): CaseName[] {
  const { previous, past, statusOf, lost, doubtful } = lastVerdicts(root, suite, io);
  if (lost.length > 0 && (previous !== undefined || past.verdicts.size > 0 || existsSync(lost[0]!.file)))
    throw damagedVerdicts(lost, io);
  if (previous === undefined && past.verdicts.size === 0) throw noVerdicts(suite, past.listed);
  if (doubtful.length > 0)
    io.stderr.write(
      `agentci: note: ${plural(doubtful.length, 'run')} in the history ${doubtful.length === 1 ? 'does not say its' : 'do not say their'} branch: ${andMore(doubtful, 3)}. What failed there counts as failed here; what passed there does not count\n`,
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
    if (past.lostLines > 0) throw damagedList(past.lostLines, suite, io);
    const newest = [...past.verdicts.values()].reduce((a, b) => (b.ranAt > a.ranAt ? b : a), {
      run: previous?.id ?? '',
      ranAt: previous?.age ?? '',
    }).run;
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
    `--failed: the last verdict known of every query was good, but ${plural(lines, 'line')} of ${relative(io.cwd, join(historyRoot(folderOf(suite, io)), 'runs.jsonl'))} cannot be read, and no run of all queries came after`,
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
  const run = readRun(dirname(dir), basename(dir));
  if (run.agent !== suite.agent)
    throw new UserError(
      'RUN_OTHER_SPEC',
      `--failed-from: ${dir} is a run of agent "${run.agent}", not of "${suite.agent}"`,
    );
  const bad = run.results.filter(({ status }) => status === 'fail' || status === 'error');
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
