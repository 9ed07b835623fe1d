import { formatMs, formatP, formatUsd } from '@agentci/lib/numbers';
import { formatCount, plural } from '@agentci/lib/text';
import type { Edit, MetricComparison, MetricDelta, QueryDiff } from '@agentci/results';
import { neededQueries, pairsText } from '@agentci/results';

/** Formats a number of a diff. */
type Format = (value: number) => string;

const ratio: Format = (value) => value.toFixed(2);
const milliseconds: Format = (value) => `${formatCount(Math.round(value))}ms`;

export interface Row {
  readonly layer: 'path' | 'cost';
  readonly title: string;
  readonly delta: MetricDelta;
  readonly format: Format;
  /** False for ratios and small counts, where percentages say little. */
  readonly showPercent: boolean;
}

/** The numbers of a diff in reading order, without those unknown on both sides. */
export function rowsOf({ path, cost }: QueryDiff): Row[] {
  const row = (
    [layer, title]: readonly [Row['layer'], string],
    delta: MetricDelta,
    format: Format,
    showPercent = false,
  ): Row => ({ layer, title, delta, format, showPercent });
  const rows = [
    row(['path', 'Tool calls'], path.tool_calls, formatCount, true),
    row(['path', 'Tool precision'], path.tool_precision, ratio),
    row(['path', 'Tool recall'], path.tool_recall, ratio),
    row(['path', 'Sequence LCS'], path.sequence_lcs, ratio),
    row(['path', 'Loops detected'], path.loops, formatCount),
    row(['path', 'Handoffs'], path.handoffs, formatCount),
    row(['cost', 'Total cost'], cost.cost_usd, formatUsd, true),
    row(['cost', 'Total tokens'], cost.total_tokens, formatCount, true),
    row(['cost', 'LLM calls'], cost.llm_calls, formatCount, true),
    row(['cost', 'Latency'], cost.latency_ms, milliseconds, true),
  ];
  return rows.filter(({ delta }) => delta.before !== null || delta.after !== null);
}

/** `11 → 0` with its change: `▼ 100%`, `unchanged`, `was 0`. */
export function changeOf({ delta, format, showPercent }: Row): {
  readonly values: string;
  readonly note: string;
} {
  const { before, after, change, pct_change, arrow } = delta;
  const show = (value: number | null) => (value === null ? 'unknown' : format(value));
  const values = `${show(before)} → ${show(after)}`;
  if (change === null) return { values, note: '' };
  if (change === 0) return { values, note: 'unchanged' };
  if (!showPercent) return { values, note: change > 0 ? '▲' : '▼' };
  if (pct_change === null) return { values, note: 'was 0' };
  return { values, note: `${arrow} ${percent(Math.abs(pct_change))}` };
}

/** One decimal if it matters: `98.8%`, `100%`. */
const percent = (value: number): string => `${formatCount(Number(value.toFixed(1)))}%`;

/** Merges repeated edits: eleven deletions of one tool are one line. */
export function counted(edits: readonly Edit[]): (Edit & { readonly times: number })[] {
  const lines: { op: Edit['op']; text: string; times: number }[] = [];
  for (const { op, text } of edits) {
    const last = lines.at(-1);
    if (last?.op === op && last.text === text) last.times++;
    else lines.push({ op, text, times: 1 });
  }
  return lines;
}

export const SIGNS: Record<Edit['op'], string> = { keep: ' ', delete: '-', insert: '+' };

/** Both answers as one line each. */
export function answerLines(
  edits: readonly Edit[],
  max: number,
): { readonly before: string; readonly after: string } {
  const side = (skip: Edit['op']) => {
    const text = edits
      .filter(({ op }) => op !== skip)
      .map((edit) => edit.text)
      .join('');
    return text.length > max ? `${text.slice(0, max - 1)}…` : text;
  };
  return { before: side('insert'), after: side('delete') };
}

/** A short form of a value. */
export function short(value: unknown, max = 60): string {
  const text = value === undefined ? '(none)' : (JSON.stringify(value) ?? String(value));
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

const VERDICTS: Record<MetricComparison['verdict'], string> = {
  better: 'better',
  worse: 'worse',
  worse_within_limit: 'worse, within limit',
  no_difference: 'no difference',
  inconclusive: 'inconclusive',
};

/** The verdict on one metric in a few words. */
export const verdictText = ({ verdict, reason }: MetricComparison): string =>
  reason === 'near_limit' ? 'worse, limit unclear' : VERDICTS[verdict];

/** The result for one metric in one sentence. */
export function comparisonText(metric: MetricComparison): string {
  const { before_mean, after_mean, queries, verdict, reason, damage } = metric;
  const needed = neededQueries(metric);
  const show = formatOf(metric.metric);
  const over = `over ${pairsText(metric)}`;
  if (reason === 'identical' && verdict === 'no_difference')
    return `no difference: ${show(before_mean)} on both sides, query by query`;
  const needs =
    verdict === 'inconclusive' && needed !== null && needed > queries
      ? `, about ${plural(needed, 'query', 'queries')} would settle it`
      : '';
  if (reason === 'identical')
    return `inconclusive: ${show(before_mean)} on both sides ${over}, and so few could miss a change${needs}`;
  const range =
    damage.low === null || damage.high === null
      ? ''
      : `, loss ${show(damage.mean)} (${show(damage.low)} to ${show(damage.high)}), allowed ${show(metric.max_drop)}`;
  const zero = reason === 'zero_baseline' ? ', the baseline is 0' : '';
  const how = metric.severity === undefined ? '' : ` (${metric.severity})`;
  return `${verdictText(metric)}${how}${needs}: ${show(before_mean)} → ${show(after_mean)} ${over}${range}, ${chanceText(metric)}${zero}`;
}

/** Formats a metric with its unit, including negative numbers. */
function formatOf(metric: string): Format {
  const format =
    (Object.hasOwn(METRIC_FORMATS, metric) ? METRIC_FORMATS[metric] : undefined) ?? number;
  return (value) => (value < 0 ? `−${format(-value)}` : format(value));
}

const METRIC_FORMATS: Readonly<Record<string, Format>> = {
  pass_rate: (value) => `${Number((100 * value).toFixed(1))} %`,
  cost_usd: formatUsd,
  latency_ms: formatMs,
  total_tokens: (value) => `${formatCount(Math.round(value))} tokens`,
};

/** The p-value, with the corrected one if that changes the decision. */
export const chanceText = ({
  p,
  p_adjusted,
}: Pick<MetricComparison, 'p' | 'p_adjusted'>): string =>
  p <= 0.05 && p_adjusted > 0.05
    ? `${formatP(p)} (${p_adjusted.toFixed(3)} corrected for several metrics)`
    : formatP(p);

/** Four significant digits. */
const number = (value: number): string => formatCount(Number(value.toPrecision(4)));
