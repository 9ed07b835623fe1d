import type { RegressionSeverity } from '@agentci/results';

/**
 * The loss of a metric that counts, in percent of the baseline. Quality has the lowest threshold.
 */
const GROUPS: readonly (readonly [RegExp, number])[] = [
  [/latency|duration/, 20],
  [/token/, 25],
  [/cost/, 30],
  [/accuracy|precision|recall|f1|pass(ed)?_rate|correctness|faithfulness|quality|tool_success/, 5],
];
const OTHER_PERCENT = 10;

const LOWER_IS_BETTER =
  /latency|duration|cost|token|error|hallucination|loops|energy|carbon|violations|llm_calls|tool_calls/;

/** Percent of the baseline that a metric may lose by default. */
export const thresholdPercent = (metric: string): number =>
  GROUPS.find(([name]) => name.test(metric))?.[1] ?? OTHER_PERCENT;

/** The better side of a metric, guessed from its name unless it is given. */
export const betterSide = (metric: string): 'higher' | 'lower' =>
  LOWER_IS_BETTER.test(metric) ? 'lower' : 'higher';

const SEVERITIES: readonly (readonly [number, RegressionSeverity])[] = [
  [3, 'critical'],
  [2, 'high'],
  [1.5, 'medium'],
  [0, 'low'],
];
const RANK: readonly RegressionSeverity[] = ['low', 'medium', 'high', 'critical'];

/** Severity of a loss, by its multiple of the threshold. */
export const severityOf = (ratio: number): RegressionSeverity =>
  SEVERITIES.find(([least]) => ratio >= least)?.[1] ?? 'low';

export interface RegressionAlert {
  readonly metric: string;
  readonly before: number;
  readonly after: number;
  /** `null` if the baseline is zero. */
  readonly degradation_pct: number | null;
  readonly threshold_pct: number;
  readonly severity?: RegressionSeverity;
  readonly reason?: 'zero_baseline';
}

export interface RegressionCheck {
  readonly has_regression: boolean;
  readonly alerts: readonly RegressionAlert[];
  readonly ci_should_fail: boolean;
}

/**
 * Compares metrics with their baseline by relative thresholds. Skips metrics that the baseline
 * lacks. A loss from a baseline of zero has no percentage and is reported as such.
 */
export function findRegressions(input: {
  readonly baseline: Readonly<Record<string, number>>;
  readonly current: Readonly<Record<string, number>>;
  /** Percentage per metric, replaces the defaults. */
  readonly thresholds?: Readonly<Record<string, number>> | null;
  readonly better?: Readonly<Record<string, 'higher' | 'lower'>>;
  readonly failOnSeverity?: RegressionSeverity;
}): RegressionCheck {
  const alerts: RegressionAlert[] = [];
  for (const [metric, after] of Object.entries(input.current)) {
    if (!Object.hasOwn(input.baseline, metric)) continue;
    const before = input.baseline[metric]!;
    const lost = own(input.better, metric) ?? betterSide(metric);
    const loss = lost === 'lower' ? after - before : before - after;
    if (!(loss > 0)) continue;
    const threshold = own(input.thresholds ?? undefined, metric) ?? thresholdPercent(metric);
    const common = { metric, before, after, threshold_pct: threshold };
    if (before === 0) alerts.push({ ...common, degradation_pct: null, reason: 'zero_baseline' });
    else {
      const percent = (loss / Math.abs(before)) * 100;
      if (percent > threshold) {
        alerts.push({
          ...common,
          degradation_pct: percent,
          severity: severityOf(percent / threshold),
        });
      }
    }
  }
  const least = RANK.indexOf(input.failOnSeverity ?? 'medium');
  return {
    has_regression: alerts.length > 0,
    alerts,
    ci_should_fail: alerts.some(
      ({ severity }) => severity !== undefined && RANK.indexOf(severity) >= least,
    ),
  };
}

const own = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
