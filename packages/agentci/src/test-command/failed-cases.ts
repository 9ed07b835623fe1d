import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { andMore, escapeTerminalLine, plural } from '@agentci/lib/text';
import type { RunResult } from '@agentci/results';
import { type CaseName, caseKey, caseText, placeOf } from '@agentci/results';
import type { LostVerdicts } from '@agentci/run';
import { historyRoot, journalPath, readRun } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import {
  isBadResult,
  isBadStatus,
  type LastVerdicts,
  lastVerdicts,
  wholeRun,
} from '../stored-runs/last-verdicts.ts';
import { folderOf } from '../stored-runs/spec-folders.ts';

/** Rules for failed cases. */
export interface FailedBy {
  readonly io: Io;
  readonly strict?: boolean | undefined;
}

/** A complete run in which no query failed, but checks over the whole run did. */
interface FailedGate {
  readonly run: string;
  /** Ids of the checks. The history does not store them. */
  readonly checks: readonly string[];
}

const badChecks = ({ checks }: Pick<RunResult, 'checks'>): string[] =>
  checks.filter(({ status }) => isBadStatus(status)).map(({ id }) => id);

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

/** The cases of a spec with a bad last verdict, for `--failed`. */
export function failedCases(root: string, suite: Suite, { io, strict }: FailedBy): CaseName[] {
  const found = lastVerdicts(root, suite, { io, strict });
  const { previous, past, lost, doubtful, damaged } = found;
  for (const { message } of damaged)
    io.stderr.write(
      `agentci: note: ${escapeTerminalLine(message)}. Its verdicts are taken from the history\n`,
    );
  if (
    lost.length > 0 &&
    (previous !== undefined || past.verdicts.size > 0 || existsSync(lost[0]!.file))
  )
    throw damagedVerdicts(lost, io);
  if (past.lostLines > 0) throw damagedList(past.lostLines, suite, io);
  if (previous === undefined && past.verdicts.size === 0) throw noVerdicts(suite, past.listed);
  if (doubtful.length > 0)
    io.stderr.write(
      `agentci: note: ${plural(doubtful.length, 'run')} ${doubtful.length === 1 ? 'does not say its' : 'do not say their'} branch: ${andMore(doubtful, 3)}. What failed there counts as failed here; what passed there does not count\n`,
    );
  const isBad = withOtherBranches(found, { root, suite, io, strict });
  const failed = suite.queries.filter((query) => isBad(caseKey(query)));
  const hasFailed = (key: string): boolean => found.isBad(key) ?? false;
  refuseGone(suite, '--failed', {
    left: failed,
    failed: [...(previous?.current ?? [])]
      .filter(hasFailed)
      .map((key) => previous!.results.get(key)!),
  });
  const cases = failed.map(({ id, cell }) => (cell === undefined ? { id } : { id, cell }));
  if (cases.length === 0) {
    const unseen = suite.queries.filter((query) => isBad(caseKey(query)) === undefined).length;
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

/**
 * A case without a run on this branch counts with its verdict from other branches, like on a branch
 * without runs. Otherwise, a partial run on a new branch would hide earlier failures.
 */
function withOtherBranches(
  found: LastVerdicts,
  { root, suite, io, strict }: FailedBy & { readonly root: string; readonly suite: Suite },
): LastVerdicts['isBad'] {
  const open = suite.queries.filter(({ skip }) => skip === undefined).map(caseKey);
  const unknown = new Set(open.filter((key) => found.isBad(key) === undefined));
  if (unknown.size === 0) return found.isBad;
  const { isBad, lost } = lastVerdicts(root, suite, { io, strict, ofAllBranches: true });
  const lostElsewhere = lost.filter(({ cases }) =>
    cases.some((key) => unknown.has(key) && isBad(key) === undefined),
  );
  if (lostElsewhere.length > 0) throw damagedVerdicts(lostElsewhere, io);
  return (key) => (unknown.has(key) ? isBad(key) : found.isBad(key));
}

function damagedVerdicts(lost: readonly LostVerdicts[], io: Io): UserError {
  const { run, file, bad, total } = lost[0]!;
  const more =
    lost.length === 1 ? '' : `; the same goes for ${plural(lost.length - 1, 'older run')}`;
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
  return new UserError('NO_PREVIOUS_RUN', `--failed: ${what}`, {
    hint: 'Run it once without --failed.',
  });
}

/** The cases of a spec that were bad in a given run folder, for `--failed-from`. */
export function failedCasesIn(
  dir: string,
  suite: Suite,
  { strict = false }: Pick<FailedBy, 'strict'> = {},
): CaseName[] {
  if (!existsSync(dir)) throw new UserError('RUN_MISSING', `--failed-from: no folder ${dir}`);
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
  if (basename(run.spec.file) !== basename(suite.file))
    throw new UserError(
      'RUN_OTHER_SPEC',
      `--failed-from: ${dir} is a run of ${run.spec.file}, not of ${suite.file}`,
      {
        hint: `Add -c ${run.spec.file}, or name a run of ${suite.file}.`,
      },
    );
  const rules = new Map(suite.queries.map((query) => [caseKey(query), query]));
  const bad = run.results.filter((result) =>
    isBadResult(result, { query: rules.get(caseKey(result)), strict }),
  );
  const gates = badChecks(run);
  if (bad.length === 0 && gates.length > 0)
    throw gateFailed('--failed-from', { run: run.run_id, checks: gates });
  if (bad.length === 0)
    throw new UserError(
      'NOTHING_FAILED',
      `--failed-from: nothing failed in run ${run.run_id}, so there is nothing to run again`,
    );
  refuseGone(suite, '--failed-from', { left: [], failed: bad });
  return bad.map(({ id, cell }) => (cell === undefined ? { id } : { id, cell }));
}

/**
 * Rejects failed cases that no longer exist. They cannot run again, and a green run of the rest
 * would look as if they had.
 */
function refuseGone(
  suite: Suite,
  option: string,
  { left, failed }: { readonly left: readonly CaseName[]; readonly failed: readonly CaseName[] },
): void {
  const known = new Set(suite.queries.map(caseKey));
  const gone = failed.filter((each) => !known.has(caseKey(each)));
  if (gone.length === 0) return;
  const names = andMore(
    gone.map((each) => JSON.stringify(caseText(each))),
    5,
  );
  const stillThere = left.length === 0 ? '' : ` Still there: ${andMore(left.map(caseText), 5)}`;
  throw new UserError(
    'FAILED_GONE',
    `${option}: ${names} failed last time and ${gone.length === 1 ? 'is' : 'are'} no longer in ${suite.file}`,
    { hint: `Run it once without ${option}.${stillThere}` },
  );
}
