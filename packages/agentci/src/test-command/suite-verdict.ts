import type { CheckResult, QueryResult } from '@agentci/results';
import { caseKey, exitCode } from '@agentci/results';
import { isDamage, latestVerdicts, listRuns, readPastVerdicts, readRun } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import {
  isBadStatus,
  lastVerdicts,
  runsThatCount,
  wholeRun,
} from '../stored-runs/last-verdicts.ts';

/**
 * Whether the last verdict on every query of a suite is good, and all checks over the whole run
 * were good in the last complete run. Partial runs do not measure those.
 */
export const isSuiteGood = (root: string, suite: Suite, io: Io): boolean =>
  unlessDamaged(() => {
    const { isBad, lost, past, isThere } = lastVerdicts(root, suite, { io });
    if (lost.length + past.lostLines > 0) return false;
    const queries = suite.queries.filter(({ skip }) => skip === undefined);
    if (!queries.every((query) => isBad(caseKey(query)) === false)) return false;
    const whole = wholeRun(root, isThere);
    return (
      whole !== undefined &&
      !readRun(root, whole.id).checks.some(({ status }) => isBadStatus(status))
    );
  });

/** An unreadable run is not known to be good. */
function unlessDamaged(isGood: () => boolean): boolean {
  try {
    return isGood();
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/**
 * Whether the last verdict on every query of a suite is good under --strict. Only stored results
 * have warnings and unmeasured checks. If the history has a newer verdict, returns false.
 */
export const isSuiteStrictlyGood = (root: string, suite: Suite, io: Io): boolean =>
  unlessDamaged(() => isKnownStrictlyGood(root, suite, io));

function isKnownStrictlyGood(root: string, suite: Suite, io: Io): boolean {
  const { history, isOfBranch, isHere } = runsThatCount(root, suite, { io });
  const cases = suite.queries.filter(({ skip }) => skip === undefined).map(caseKey);
  const last = latestVerdicts(
    root,
    isHere,
    new Map(suite.queries.map((query) => [caseKey(query), query])),
  );
  const whole = wholeRun(root, isHere);
  if (last === undefined || whole === undefined) return false;
  const stored = new Set(listRuns(root).map(({ id }) => id));
  const past = readPastVerdicts(history, { cases, isOfBranch, isStored: (id) => stored.has(id) });
  if (past.lost.length + past.lostLines > 0) return false;
  const isNewest = (key: string): boolean =>
    [past.verdicts, past.ofNoBranch].every(
      (known) => (known.get(key)?.ranAt ?? '') <= (last.ranAt.get(key) ?? ''),
    );
  if (!cases.every((key) => last.results.has(key) && isNewest(key))) return false;
  const { checks, unmatched_recordings = 0 } = readRun(root, whole.id);
  return (
    unmatched_recordings === 0 &&
    isStrictlyGood(
      cases.map((key) => last.results.get(key)!),
      checks,
    )
  );
}

/** Judged like a shard, because only whole runs must have checks. */
const isStrictlyGood = (results: readonly QueryResult[], checks: readonly CheckResult[]): boolean =>
  exitCode({ results: [...results], checks: [...checks] }, { strict: true, isShard: true }) === 0;
