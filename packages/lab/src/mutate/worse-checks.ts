import type { CheckResult, QueryResult } from '@agentci/results';
import { checksOf, worseStatus } from '@agentci/results';

/**
 * The checks of a result by what they are known by in every result of their query: the id, and which one of that id it is.
 * Their place in the spec would not do, since a violated rule, or item of a list, is shown at its own line.
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

/** The key of a mutant that is an error as a whole. */
const ERROR = 'error';

/** Keys of the checks whose verdict on the mutant is worse than on its recording. */
export function worseChecks(parent: QueryResult, mutant: QueryResult): string[] {
  if (mutant.error !== undefined) return [ERROR];
  const before = keyedChecks(parent);
  return [...keyedChecks(mutant)].flatMap(([key, check]) => {
    const status = before.get(key)?.status ?? 'skip';
    const isWorse = status !== check.status && worseStatus(status, check.status) === check.status;
    return isWorse && check.status !== 'pass' ? [key] : [];
  });
}
