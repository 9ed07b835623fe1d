import type { CheckResult, QueryResult } from '@agentci/results';
import { checksOf, worseStatus } from '@agentci/results';

/**
 * The checks of a result by a key that is stable across results of a query: the id and its number.
 * The location would not work, because a violated rule or list item has a separate line.
 */
export function keyedChecks(result: QueryResult): Map<string, CheckResult> {
  const keyed = new Map<string, CheckResult>();
  for (const check of checksOf(result)) {
    let key = check.id;
    for (let n = 2; keyed.has(key); n++) key = `${check.id} ${n}`;
    keyed.set(key, check);
  }
  return keyed;
}

/** The key for a mutant that is an error as a whole. */
const ERROR = 'error';

/** Keys of checks with a worse verdict on the mutant than on its recording. */
export function worseChecks(parent: QueryResult, mutant: QueryResult): string[] {
  if (mutant.error !== undefined) return [ERROR];
  const before = keyedChecks(parent);
  return [...keyedChecks(mutant)].flatMap(([key, check]) => {
    const status = before.get(key)?.status ?? 'skip';
    const isWorse = status !== check.status && worseStatus(status, check.status) === check.status;
    return isWorse && check.status !== 'pass' ? [key] : [];
  });
}
