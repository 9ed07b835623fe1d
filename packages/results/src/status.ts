import type { CheckResult, CheckStatus, LayerResult, QueryResult } from './run-result.ts';

const RANK: Record<CheckStatus, number> = { skip: 0, pass: 1, warn: 2, error: 3, fail: 4 };

/** The worst of several statuses: fail > error > warn > pass > skip. Nothing at all is a skip. */
export function worstStatus(statuses: Iterable<CheckStatus>): CheckStatus {
  let worst: CheckStatus = 'skip';
  for (const status of statuses) worst = worseStatus(worst, status);
  return worst;
}

export const worseStatus = (a: CheckStatus, b: CheckStatus): CheckStatus =>
  RANK[b] > RANK[a] ? b : a;

/** A verdict was reached: pass, warn or fail. */
export const isDecided = (status: CheckStatus): boolean =>
  status === 'pass' || status === 'warn' || status === 'fail';

/** A check the user wrote that had nothing to measure: a skip, and with --strict no verdict. */
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

/** What a layer has to say: what did not pass, in words; one line when everything did. */
export function messagesOf(checks: readonly CheckResult[]): string[] {
  const told: string[] = [];
  for (const { status, message } of checks) if (status !== 'pass') told.push(message);
  if (told.length > 0 || checks.length === 0) return told;
  return [checks.length === 1 ? '1 check passed' : `${checks.length} checks passed`];
}
