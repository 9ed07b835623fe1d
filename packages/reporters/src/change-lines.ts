import { present } from '@agentci/lib/data';
import { plural } from '@agentci/lib/text';
import type { CheckStatus, MetricComparison, QueryResult, RunResult } from '@agentci/results';
import { caseText, LAYERS, wordOf } from '@agentci/results';
import { comparisonText } from './diff/words.ts';
import type { ReportContext } from './reporter.ts';

export interface Change {
  readonly status: CheckStatus;
  /** Name of the query or metric. */
  readonly name: string;
  readonly text: string;
  readonly result?: QueryResult;
}

/**
 * Changes since the previous run, in this order: new failures, lost verdicts, higher cost or
 * latency (certain or possible), fixed, removed.
 */
export function changesOf(
  run: RunResult,
  { comparison, run: before }: NonNullable<ReportContext['before']>,
): Change[] {
  const now = new Map(run.results.map((result) => [caseText(result), result]));
  const was = new Map(
    before.results.map((result) => [caseText(result), result.xfail?.status ?? result.status]),
  );
  const { broken, mended } = flipsOf(comparison.flips, now);
  const lost = [...now].flatMap(([name, result]): Change[] => {
    const before = was.get(name);
    if (result.status !== 'error' || (before !== 'pass' && before !== 'warn')) return [];
    const why = reasonOf(result);
    const text = `passed before, could not be judged now${why === undefined ? '' : `: ${why}`}`;
    return [{ status: 'error', name, text, result }];
  });
  const added = comparison.new_failing.map((name): Change => {
    const result = now.get(name);
    const why = result === undefined ? undefined : reasonOf(result);
    const word = result?.status === 'error' ? 'could not be judged' : 'failing';
    return {
      status: result?.status ?? 'fail',
      name,
      text: `new and ${word}${why === undefined ? '' : `: ${why}`}`,
      result,
    };
  });
  const gone = comparison.only_before.map(
    (name): Change => ({ status: 'skip', name, text: 'is gone' }),
  );
  const metricsOf = (is: (metric: MetricComparison) => boolean) =>
    comparison.metrics.filter(is).map(
      (metric): Change => ({
        status: metric.verdict === 'better' ? 'pass' : 'warn',
        name: wordOf(metric.metric),
        text: comparisonText(metric),
      }),
    );
  return [
    ...broken,
    ...added,
    ...lost,
    ...metricsOf(({ verdict }) => verdict === 'worse'),
    ...metricsOf(isSuspicious),
    ...metricsOf(({ verdict }) => verdict === 'worse_within_limit'),
    ...mended,
    ...metricsOf(({ verdict }) => verdict === 'better'),
    ...gone,
  ];
}

function flipsOf(
  flips: NonNullable<ReportContext['before']>['comparison']['flips'],
  now: ReadonlyMap<string, QueryResult>,
) {
  const broken: Change[] = [];
  const mended: Change[] = [];
  for (const { id, after } of flips) {
    const result = now.get(id);
    const isMended = after === 'pass' || after === 'warn';
    const why = result === undefined ? undefined : reasonOf(result);
    const text = isMended
      ? 'failed before, passes now'
      : `passed before, fails now${why === undefined ? '' : `: ${why}`}`;
    (isMended ? mended : broken).push({
      status: after,
      name: id,
      text,
      result,
    });
  }
  return { broken, mended };
}

/** Changed by more than the limit but possibly by chance, or changed significantly by an unclear amount. */
const isSuspicious = ({ verdict, reason, damage, max_drop }: MetricComparison): boolean =>
  reason === 'near_limit' ||
  (verdict === 'inconclusive' && reason !== 'identical' && damage.mean > max_drop);

/** `12 queries in both runs, 2 new, 1 gone`. */
export function comparedText({ comparison }: NonNullable<ReportContext['before']>): string {
  const { only_after, only_before, summary } = comparison;
  return present([
    `${plural(summary.pairs, 'query', 'queries')} in both runs`,
    only_after.length > 0 ? `${only_after.length} new` : undefined,
    only_before.length > 0 ? `${only_before.length} gone` : undefined,
  ]).join(', ');
}

/** The deciding reason in one sentence. */
function reasonOf(result: QueryResult): string | undefined {
  if (result.error) return result.error.message;
  const checks = LAYERS.flatMap((layer) => result[layer].checks);
  return checks.find(({ status }) => status === result.status)?.message;
}
