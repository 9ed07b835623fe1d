import type { MetricDelta, Regression, TraceDiff } from '@agentci/results';
import { type CheckStatus, LAYERS, type Layer } from '@agentci/results';

/**
 * The regressions that count: a layer that had no failure before and fails now and, if a limit is
 * set, growth above it. More calls or dollars alone are shown and do not fail the gate.
 */
export function regressionsOf(
  diff: Pick<TraceDiff, 'verdict' | 'path' | 'cost'>,
  failedChecks: Readonly<Record<Layer, readonly string[]>>,
  limitPercent: number | undefined,
): Regression[] {
  const found: Regression[] = [];
  for (const layer of LAYERS) {
    const { before, after } = diff.verdict.layers[layer];
    if (!isWorse(before, after)) continue;
    const checks = failedChecks[layer];
    found.push({
      layer,
      metric: layer,
      message: `${layer} went from ${before} to fail${checks.length > 0 ? ` (${checks.join(', ')})` : ''}`,
      pct_change: null,
    });
  }
  if (limitPercent === undefined) return found;
  for (const [layer, metric, delta] of gated(diff)) {
    const grown = growth(delta, limitPercent);
    if (grown !== undefined)
      found.push({
        layer,
        metric,
        limit_percent: limitPercent,
        ...grown,
        message: `${metric} ${grown.message}`,
      });
  }
  return found;
}

/**
 * True if it fails now and did not before, by the same checks. A status that could not be judged
 * before may have been as bad.
 */
const isWorse = (before: CheckStatus | null, after: CheckStatus | null): boolean =>
  after === 'fail' && (before === 'pass' || before === 'warn' || before === 'skip');

function* gated({
  path,
  cost,
}: Pick<TraceDiff, 'path' | 'cost'>): Generator<['path' | 'cost', string, MetricDelta]> {
  yield ['path', 'tool_calls', path.tool_calls];
  for (const metric of ['cost_usd', 'total_tokens', 'latency_ms'] as const)
    yield ['cost', metric, cost[metric]];
}

/** No limited number is known on both sides. */
export const nothingGated = (diff: Pick<TraceDiff, 'path' | 'cost'>): boolean =>
  [...gated(diff)].every(([, , { change }]) => change === null);

/** Tolerance for floating-point errors: 0.3 to 0.36 must not be above 20 %. */
const DUST = 1e-9;

function growth(
  { before, after, change, pct_change }: MetricDelta,
  limit: number,
): Pick<Regression, 'message' | 'pct_change' | 'reason'> | undefined {
  if (change === null || change <= 0) return undefined;
  if (pct_change === null)
    return {
      message: `grew from 0 to ${after}, limit ${limit} %`,
      pct_change: null,
      reason: 'zero_baseline',
    };
  if (pct_change <= limit + DUST * Math.max(1, limit)) return undefined;
  return {
    message: `grew by ${pct_change.toFixed(1)} % from ${before} to ${after}, limit ${limit} %`,
    pct_change,
  };
}
