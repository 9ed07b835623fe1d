import { escapeLatex } from '@agentci/lib/text';
import type { ExperimentResult } from '@agentci/results';
import { quantile } from '@agentci/stats';
import {
  formatDifference,
  formatP,
  formatSigned,
  formatValue,
  METRIC_LABELS,
  NONE,
} from './format.ts';
import { COMPONENTS, HEADLINE, samplesOf } from './measure-plots.ts';

/**
 * Two tables for a paper: conditions with quartiles, and pairs with intervals. Plain LaTeX without
 * packages.
 */
export function renderLatex(result: ExperimentResult): string {
  const metrics = [...HEADLINE, ...COMPONENTS];
  const conditions = metrics.flatMap((metric) =>
    samplesOf(result, metric).map(({ name, values }) => {
      const { n, mean, sd, ci95 } = result.conditions.find(({ condition }) => condition === name)!
        .metrics[metric]!;
      const format = (value: number | null): string => formatValue(metric, value);
      return [
        METRIC_LABELS[metric],
        name,
        String(n),
        format(mean),
        format(sd),
        ci95 === null ? NONE : `${format(ci95.low)} to ${format(ci95.high)}`,
        ...[0.25, 0.5, 0.75].map((q) => format(quantile(values, q))),
      ];
    }),
  );
  const pairs = metrics.flatMap((metric) =>
    result.comparisons
      .filter((pair) => pair.metric === metric)
      .map(({ a, b, difference, difference_ci95: ci95, welch, cohens_d }) => [
        METRIC_LABELS[metric],
        `${b} − ${a}`,
        formatDifference(metric, difference),
        ci95 === null
          ? NONE
          : `${formatDifference(metric, ci95.low)} to ${formatDifference(metric, ci95.high)}`,
        formatP(welch.p_holm),
        formatSigned(cohens_d, 2),
      ]),
  );
  return [
    `% Experiment: ${escapeLatex(result.experiment)}, seed ${result.seed}`,
    ...tabular(
      'llrrrrrrr',
      ['measure', 'condition', 'n', 'mean', 'sd', '95 % interval', 'Q1', 'median', 'Q3'],
      conditions,
    ),
    '',
    ...tabular(
      'llrrrr',
      ['measure', 'pair', 'difference', '95 % interval', 'p (Holm)', "Cohen's d"],
      pairs,
    ),
    '',
  ].join('\n');
}

const tabular = (
  columns: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string[] => [
  `\\begin{tabular}{${columns}}`,
  '\\hline',
  rowOf(head),
  '\\hline',
  ...rows.map(rowOf),
  '\\hline',
  '\\end{tabular}',
];

const rowOf = (cells: readonly string[]): string => `${cells.map(escapeLatex).join(' & ')} \\\\`;
