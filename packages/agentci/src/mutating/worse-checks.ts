import type { CheckResult, QueryResult } from '../results/run-result.ts';
import { checksOf, worseStatus } from '../results/status.ts';

/** A check may be written more than once in a query; its place tells them apart. */
export const keyOfCheck = ({ id, location }: CheckResult): string =>
  `${id} ${location?.line ?? ''}:${location?.column ?? ''}`;

/** Ids of the checks whose verdict on the mutant is worse than on its recording. */
export function worseChecks(parent: QueryResult, mutant: QueryResult): string[] {
  if (mutant.error !== undefined) return ['error'];
  const before = new Map(checksOf(parent).map((check) => [keyOfCheck(check), check.status]));
  return checksOf(mutant).flatMap((check) => {
    const status = before.get(keyOfCheck(check)) ?? 'skip';
    const isWorse = status !== check.status && worseStatus(status, check.status) === check.status;
    return isWorse && check.status !== 'pass' ? [check.id] : [];
  });
}
