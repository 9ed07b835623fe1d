import type { CheckResult, CheckStatus, LayerResult, QueryResult } from './run-result.ts';

const RANK: Record<CheckStatus, number> = { skip: 0, pass: 1, warn: 2, error: 3, fail: 4 };

/** The worst status: fail > error > warn > pass > skip. Skip for none. */
export function worstStatus(statuses: Iterable<CheckStatus>): CheckStatus {
  let worst: CheckStatus = 'skip';
  for (const status of statuses) worst = worseStatus(worst, status);
  return worst;
}

export const worseStatus = (a: CheckStatus, b: CheckStatus): CheckStatus =>
  RANK[b] > RANK[a] ? b : a;

/** Whether a verdict was reached: pass, warn or fail. */
export const isDecided = (status: CheckStatus): boolean =>
  status === 'pass' || status === 'warn' || status === 'fail';

/** Whether a check of the user had nothing to measure. */
export const isUnmeasured = ({ skip_reason }: CheckResult): boolean =>
  skip_reason === 'not_measured' || skip_reason === 'no_baseline';

/** All checks of a query, in layer order. */
export function checksOf(
  result: Pick<QueryResult, 'correctness' | 'path' | 'cost'>,
): CheckResult[] {
  return [...result.correctness.checks, ...result.path.checks, ...result.cost.checks];
}

export const emptyLayer = (): LayerResult => ({
  status: 'skip',
  messages: [],
  details: {},
  checks: [],
});

/** The messages of a layer: everything that did not pass, or one line if all passed. */
export function messagesOf(checks: readonly CheckResult[]): string[] {
  const told: string[] = [];
  for (const { status, message } of checks) if (status !== 'pass') told.push(message);
  if (told.length > 0 || checks.length === 0) return told;
  return [checks.length === 1 ? '1 check passed' : `${checks.length} checks passed`];
}
