import type {
  ConditionComparison,
  ConditionSummary,
  ExperimentResult,
  MetricSummary,
  TrialMetric,
} from '@agentci/results';
import {
  formatDifference,
  formatP,
  formatShare,
  formatSigned,
  formatValue,
  METRIC_LABELS,
  NONE,
} from './format.ts';

/** A table for all report formats. The first column is text, the others are numbers. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

/** The most important metrics. Components of decision quality are only in longer reports. */
const HEADLINE: readonly TrialMetric[] = ['dq', 't2u_s', 'cost_usd', 'total_tokens'];
const PARTS: readonly TrialMetric[] = ['validity', 'specificity', 'correctness'];

/** An experiment as tables: conditions, bands, pairs, analysis of variance, weights. */
export function tablesOf(result: ExperimentResult, detail: 'short' | 'full'): Table[] {
  const metrics = detail === 'full' ? [...HEADLINE, ...PARTS] : HEADLINE;
  return [
    conditionTable(result, metrics),
    bandTable(result.conditions),
    pairTable(result.comparisons, metrics),
    anovaTable(result, metrics),
    weightTable(result),
    driverTable(result),
  ].filter((table) => table.rows.length > 0);
}

function conditionTable({ conditions }: ExperimentResult, metrics: readonly TrialMetric[]): Table {
  const rows = metrics.flatMap((metric) =>
    conditions.flatMap(({ condition, metrics: measured }) => {
      const summary = measured[metric];
      return summary === undefined
        ? []
        : [[`${condition}: ${METRIC_LABELS[metric]}`, ...numbersOf(metric, summary)]];
    }),
  );
  const constant = rows.some((row) => row[3]?.includes('*'));
  return {
    title: 'Conditions',
    columns: ['condition', 'n', 'mean', 'sd', '95 % interval', 'median', 'min', 'max'],
    rows,
    notes: constant
      ? [
          '* every trial has the same value; two such conditions have no p-value, and one of them beside another that varies has, with a note',
        ]
      : [],
  };
}

function numbersOf(
  metric: TrialMetric,
  { n, mean, sd, ci95, median, min, max, zero_variance }: MetricSummary,
): string[] {
  const format = (value: number | null): string => formatValue(metric, value);
  return [
    String(n),
    format(mean),
    `${format(sd)}${zero_variance ? '*' : ''}`,
    ci95 === null ? NONE : `${format(ci95.low)} to ${format(ci95.high)}`,
    format(median),
    format(min),
    format(max),
  ];
}

function bandTable(conditions: readonly ConditionSummary[]): Table {
  return {
    title: 'Bands of decision quality',
    columns: [
      'condition',
      'excellent',
      'good',
      'mediocre',
      'poor',
      'actionable',
      'actions',
      'failed',
    ],
    rows: conditions.flatMap(
      ({ condition, categories, actionable, mean_actions, failed, metrics }) =>
        categories === null || actionable === null
          ? []
          : [
              [
                condition,
                formatShare(categories.excellent),
                formatShare(categories.good),
                formatShare(categories.mediocre),
                formatShare(categories.poor),
                `${actionable.count} of ${metrics.dq?.n ?? 0}`,
                mean_actions === null ? NONE : mean_actions.toFixed(2),
                String(failed),
              ],
            ],
    ),
    notes: ['excellent from 0.7, good from 0.5, mediocre from 0.3; actionable above 0.5'],
  };
}

function pairTable(
  comparisons: readonly ConditionComparison[],
  metrics: readonly TrialMetric[],
): Table {
  const shown = metrics.flatMap((metric) => comparisons.filter((pair) => pair.metric === metric));
  return {
    title: 'Pairs',
    columns: [
      'from → to',
      'difference',
      '95 % interval',
      'change',
      'Welch p',
      'rank p',
      "Cohen's d",
      "Hedges' g",
      "Cliff's δ",
      'trials needed',
    ],
    rows: shown.map((pair) => [
      `${pair.a} → ${pair.b}: ${METRIC_LABELS[pair.metric]}`,
      formatDifference(pair.metric, pair.difference),
      pair.difference_ci95 === null
        ? NONE
        : `${formatDifference(pair.metric, pair.difference_ci95.low)} to ${formatDifference(pair.metric, pair.difference_ci95.high)}`,
      pair.relative_improvement_pct === null
        ? NONE
        : `${formatSigned(pair.relative_improvement_pct, 1)} %`,
      formatP(pair.welch.p_holm),
      formatP(pair.mann_whitney.p_holm),
      formatSigned(pair.cohens_d, 2),
      formatSigned(pair.hedges_g, 2),
      formatSigned(pair.cliffs_delta, 2),
      pair.trials_needed === null ? NONE : String(pair.trials_needed),
    ]),
    notes: [
      'p-values are corrected by Holm over the pairs of one metric; trials needed: per condition, to show the observed difference with power 0.8',
      ...new Set(
        shown.flatMap(({ note, metric }) =>
          note === undefined ? [] : [`${METRIC_LABELS[metric]}: ${note}`],
        ),
      ),
    ],
  };
}

function anovaTable({ anova }: ExperimentResult, metrics: readonly TrialMetric[]): Table {
  const shown = anova.filter(({ metric, f }) => metrics.includes(metric) && f !== null);
  return {
    title: 'Analysis of variance',
    columns: ['metric', 'F', 'df', 'p', 'η²'],
    rows: shown.map(({ metric, f, df, p, eta_squared }) => [
      METRIC_LABELS[metric],
      f!.toFixed(2),
      df!.join(', '),
      formatP(p),
      eta_squared!.toFixed(3),
    ]),
    notes: shown.flatMap(({ metric, zero_variance }) =>
      zero_variance.length === 0
        ? []
        : [
            `${METRIC_LABELS[metric]}: assumes equal spread, and there is none in ${zero_variance.join(' and ')}; read F with care`,
          ],
    ),
  };
}

function weightTable({ sensitivity }: ExperimentResult): Table {
  if (sensitivity === null) return { title: 'Weights', columns: [], rows: [], notes: [] };
  const { rank_stability: stable, wins, points, reference } = sensitivity;
  return {
    title: 'Other weights of validity, specificity and correctness',
    columns: ['question', 'share of the mixes'],
    rows: [
      ['same order of the conditions', formatShare(stable.same)],
      ['same order, with ties', formatShare(stable.tied)],
      ['another order', formatShare(stable.different)],
      ...Object.entries(wins).map(([condition, share]) => [
        `${condition} alone is best`,
        formatShare(share),
      ]),
    ],
    notes: [
      `${points.length} mixes; the order at the weights used: ${reference.ranking.map((tied) => tied.join(' = ')).join(' > ')}`,
    ],
  };
}

/** The components that cause the difference between two conditions. */
function driverTable({ sensitivity }: ExperimentResult): Table {
  const parts = ['validity', 'specificity', 'correctness'] as const;
  return {
    title: 'What drives the difference in decision quality',
    columns: ['pair', 'difference', ...parts],
    rows: (sensitivity?.drivers ?? []).map(({ a, b, difference, components }) => [
      `${a} → ${b}`,
      formatDifference('dq', difference),
      ...parts.map((part) => {
        const { points, share } = components[part];
        return share === null
          ? formatDifference('dq', points)
          : `${formatDifference('dq', points)} (${formatShare(share)})`;
      }),
    ]),
    notes: [],
  };
}
