import type { ExperimentResult, TrialMetric } from '@agentci/results';
import { boxPlot, type Threshold } from '../plots/box-plot.ts';
import { differencePlot } from '../plots/difference-plot.ts';
import type { PlotSample } from '../plots/distribution-plot.ts';
import { valuesOf } from '../summarize-condition.ts';
import { formatDifference, formatValue, METRIC_LABELS } from './format.ts';

export const HEADLINE: readonly TrialMetric[] = ['dq', 't2u_s', 'cost_usd', 'total_tokens'];
export const COMPONENTS: readonly TrialMetric[] = ['validity', 'specificity', 'correctness'];

/** Band limits of decision quality. Above 0.5 an operator can act on it. */
const BANDS: readonly Threshold[] = [
  { value: 0.3, label: 'mediocre' },
  { value: 0.5, label: 'actionable' },
  { value: 0.7, label: 'excellent' },
];

/** The values of a metric in every condition that has some. */
export function samplesOf(
  { conditions, trials }: ExperimentResult,
  metric: TrialMetric,
): PlotSample[] {
  return conditions.flatMap(({ condition, metrics }, index) =>
    metrics[metric] === undefined
      ? []
      : [
          {
            name: condition,
            index,
            values: valuesOf(
              trials.filter((trial) => trial.condition === condition),
              metric,
            ),
          },
        ],
  );
}

/** Box plots with every trial. Shares always use the scale from 0 to 1. Empty without values. */
export function measureBoxes(result: ExperimentResult, metric: TrialMetric): string {
  const samples = samplesOf(result, metric);
  if (samples.length === 0) return '';
  const isShare = metric === 'dq' || COMPONENTS.includes(metric);
  return boxPlot(samples, {
    label: METRIC_LABELS[metric],
    format: (value) => formatValue(metric, value),
    thresholds: metric === 'dq' ? BANDS : undefined,
    least: 0,
    ends: isShare ? ([0, 1] as const) : undefined,
  });
}

/** Every pair of conditions on one scale. Empty without pairs. */
export function measureDifferences({ comparisons }: ExperimentResult, metric: TrialMetric): string {
  const pairs = comparisons.filter((pair) => pair.metric === metric);
  if (pairs.length === 0) return '';
  return differencePlot(
    pairs.map(({ a, b, difference, difference_ci95: interval }) => ({
      a,
      b,
      difference,
      interval,
    })),
    { label: METRIC_LABELS[metric], format: (value) => formatDifference(metric, value) },
  );
}
