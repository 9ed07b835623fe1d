import type { CheckResult, LayerResult, QueryResult } from '@agentci/results';
import {
  checksOf,
  isDecided,
  LAYERS,
  messagesOf,
  TRUNCATED,
  worseStatus,
  worstStatus,
} from '@agentci/results';

/** A layer with added checks and the resulting status. */
export function withChecks(
  layer: LayerResult,
  extra: {
    readonly checks: readonly CheckResult[];
    readonly details: Readonly<Record<string, unknown>>;
  },
): LayerResult {
  if (extra.checks.length === 0) return layer;
  const checks: CheckResult[] = [...layer.checks, ...extra.checks];
  const status = worstStatus(checks.map((check) => check.status));
  return {
    ...layer,
    status,
    checks,
    messages: messagesOf(checks),
    details: { ...layer.details, ...extra.details },
  };
}

/**
 * The worst layer. A query without any decided check and with one that could not be measured is an
 * error.
 */
export function statusOf(result: QueryResult): QueryResult['status'] {
  // A finding is not a decided check: the requested checks may still be open.
  if (
    !LAYERS.some((layer) =>
      result[layer].checks.some(({ id, status }) => id !== TRUNCATED && isDecided(status)),
    )
  ) {
    const isOpen = ({ skip_reason: reason }: CheckResult): boolean =>
      reason === 'not_measured' || reason === 'off';
    if (checksOf(result).some(isOpen)) return 'error';
  }
  return worseStatus(
    worseStatus(result.correctness.status, result.path.status),
    result.cost.status,
  );
}
