import { exitCode } from '../engine/exit-code.ts';
import { readPastVerdicts } from '../history/past-verdicts.ts';
import { caseKey } from '../results/cell.ts';
import type { CheckResult, QueryResult } from '../results/run-result.ts';
import type { Suite } from '../spec/suite.ts';
import { isDamage, isPart, latestVerdicts, listRuns, readRun } from '../store/stored-runs.ts';
import { runsThatCount } from './failed-cases.ts';
import type { Io } from './io.ts';

/**
 * Whether the last verdict on every query of a suite is good by the rules of --strict. Only a stored result says what it warned of and what
 * was not measured: where the history knows a newer verdict, the answer is no.
 */
export function isSuiteStrictlyGood(root: string, suite: Suite, io: Io): boolean {
  try {
    return isKnownStrictlyGood(root, suite, io);
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

function isKnownStrictlyGood(root: string, suite: Suite, io: Io): boolean {
  const { history, isOfBranch, isHere } = runsThatCount(root, suite, io);
  const cases = suite.queries.filter(({ skip }) => skip === undefined).map(caseKey);
  const last = latestVerdicts(root, isHere, new Map(suite.queries.map((query) => [caseKey(query), query])));
  const whole = listRuns(root).find((run) => run.finished && isHere(run) && !isPart(run.header));
  if (last === undefined || whole === undefined) return false;
  const stored = new Set(listRuns(root).map(({ id }) => id));
  const past = readPastVerdicts(history, { cases, isOfBranch, isStored: (id) => stored.has(id) });
  if (past.lost.length + past.lostLines > 0) return false;
  const isNewest = (key: string): boolean =>
    [past.verdicts, past.ofNoBranch].every((known) => (known.get(key)?.ranAt ?? '') <= (last.ranAt.get(key) ?? ''));
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

/** As a shard is judged: whether anything was checked at all is asked of runs. */
const isStrictlyGood = (results: readonly QueryResult[], checks: readonly CheckResult[]): boolean =>
  exitCode({ results: [...results], checks: [...checks] }, { strict: true, isShard: true }) === 0;
