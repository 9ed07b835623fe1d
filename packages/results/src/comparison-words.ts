import { andMore, plural } from '@agentci/lib/text';
import type { MetricComparison, RunComparison, RunVerdict } from './diff.ts';

const MAX_NAMES = 5;

type Compared = Omit<RunComparison, 'verdict' | 'headline'>;

/** Summarizes a comparison of two sides, claiming no more than the data shows. */
export function summarizeComparison(
  comparison: Compared,
): Pick<RunComparison, 'verdict' | 'headline'> {
  return { verdict: verdictOf(comparison), headline: headlineOf(comparison) };
}

function verdictOf({
  metrics,
  flips,
  summary,
  new_failing,
  lost_verdicts,
  only_before,
  only_after,
}: Compared): RunVerdict {
  const isAny = (verdict: MetricComparison['verdict']) =>
    metrics.some((metric) => metric.verdict === verdict);
  if (
    summary.regressions > 0 ||
    new_failing.length > 0 ||
    lost_verdicts.length > 0 ||
    isAny('worse')
  )
    return 'worse';
  if (metrics.length === 0 && flips.length === 0) return 'nothing_to_compare';
  if (flips.length > 0 || isAny('better')) return 'better';
  if (isAny('worse_within_limit')) return 'worse_within_limit';
  const isSame = metrics.every(isSettled) && only_before.length + only_after.length === 0;
  return isSame ? 'no_difference' : 'inconclusive';
}

/** No significant change, or one within the limit. */
const isSettled = ({ verdict, reason }: MetricComparison): boolean =>
  verdict === 'no_difference' || verdict === 'worse_within_limit' || reason === 'identical';

/** Neither a proven change nor identical values. */
const isOpen = ({ verdict, reason }: MetricComparison): boolean =>
  verdict === 'inconclusive' && reason !== 'identical' && reason !== 'near_limit';

function headlineOf(comparison: Compared): string {
  const {
    metrics,
    flips,
    summary,
    new_failing,
    lost_verdicts,
    undecided,
    only_before,
    only_after,
  } = comparison;
  const sentences: string[] = [];
  if (new_failing.length > 0)
    sentences.push(`New and failing: ${andMore(new_failing, MAX_NAMES)}.`);
  if (summary.regressions > 0)
    sentences.push(
      `${queries(summary.regressions)} passed before and ${fail(summary.regressions)} now.`,
    );
  if (lost_verdicts.length > 0)
    sentences.push(`${queries(lost_verdicts.length)} passed before and could not be judged now.`);
  const mended = flips.length - summary.regressions;
  if (mended > 0)
    sentences.push(`${queries(mended)} failed before and ${mended === 1 ? 'passes' : 'pass'} now.`);
  if (summary.pairs === 0)
    sentences.push('No query is on both sides, so there is nothing to compare.');
  else if (metrics.length === 0)
    sentences.push('No query was decided on both sides, so there is nothing to compare.');
  else if (undecided.length === summary.pairs && flips.length === 0)
    sentences.push('No query has a verdict on both sides.');
  else if (flips.length === 0 && lost_verdicts.length === 0) sentences.push('No verdict flipped.');
  for (const [words, is] of MOVES) {
    const moved = metrics.filter(is).map(movedText);
    if (moved.length > 0) sentences.push(`${words}: ${moved.join(', ')}.`);
  }
  const open = metrics.filter(isOpen).map(({ metric }) => wordOf(metric));
  if (open.length > 0)
    sentences.push(`Inconclusive: ${open.join(', ')}${enough(metrics.filter(isOpen))}.`);
  else if (
    summary.pairs > 0 &&
    flips.length === 0 &&
    metrics.length > 0 &&
    metrics.every(isSettled)
  )
    sentences.push('No number moved by more than is allowed.');
  const added = only_after.filter((id) => !new_failing.includes(id));
  if (added.length > 0) sentences.push(`New: ${andMore(added, MAX_NAMES)}.`);
  if (only_before.length > 0) sentences.push(`Gone: ${andMore(only_before, MAX_NAMES)}.`);
  return sentences.join(' ');
}

const MOVES: readonly (readonly [words: string, is: (metric: MetricComparison) => boolean])[] = [
  ['Worse, beyond chance', ({ verdict }) => verdict === 'worse'],
  [
    'Worse, beyond chance, and perhaps by more than is allowed',
    ({ reason }) => reason === 'near_limit',
  ],
  ['Worse beyond chance, within the limit', ({ verdict }) => verdict === 'worse_within_limit'],
  ['Better, beyond chance', ({ verdict }) => verdict === 'better'],
];

/** `cost (+13 %)`. Not for pass rates, where a relative change would be read as points. */
function movedText({ metric, pct_change }: MetricComparison): string {
  if (pct_change === null || metric === 'pass_rate') return wordOf(metric);
  const size = Math.abs(pct_change);
  return `${wordOf(metric)} (${pct_change < 0 ? '−' : '+'}${size < 10 ? Number(size.toFixed(1)) : Math.round(size)} %)`;
}

/** The largest number of pairs that any open question needs. None if one has no answer. */
function enough(open: readonly MetricComparison[]): string {
  const seen = Math.max(...open.map((metric) => metric.queries));
  const needed = open.map(neededQueries);
  const about = needed.includes(null) ? '' : `; about ${Math.max(...needed.map(Number))} could`;
  return ` (${queries(seen)} ${seen === 1 ? 'is' : 'are'} too few to tell${about})`;
}

const queries = (count: number): string => plural(count, 'query', 'queries');
const fail = (count: number): string => (count === 1 ? 'fails' : 'fail');

const WORDS: Readonly<Record<string, string>> = {
  pass_rate: 'pass rate',
  cost_usd: 'cost',
  latency_ms: 'latency',
  total_tokens: 'tokens',
};

/** `8 queries`, or `16 pairs of runs of 8 queries`, in the same words everywhere. */
export function pairsText({
  pairs,
  queries: of,
}: {
  pairs: number;
  queries?: number | undefined;
}): string {
  if (of === undefined) return plural(pairs, 'pair');
  return pairs === of ? queries(of) : `${plural(pairs, 'pair')} of runs of ${queries(of)}`;
}

/** Total number of queries needed, with the current number of runs each. */
export function neededQueries({
  needed_pairs,
  pairs,
  queries: of,
}: Pick<MetricComparison, 'needed_pairs' | 'pairs' | 'queries'>): number | null {
  if (needed_pairs === null || pairs === of) return needed_pairs;
  return of + Math.max(1, Math.ceil((needed_pairs - pairs) / (pairs / of)));
}

/** Heading above the names in `undecided`. */
export const NOT_COUNTED =
  'Not in the pass rate, without a verdict or an expected failure on a side';

/** The everyday name of a metric. */
export const wordOf = (metric: string): string =>
  Object.hasOwn(WORDS, metric) ? WORDS[metric]! : metric;
