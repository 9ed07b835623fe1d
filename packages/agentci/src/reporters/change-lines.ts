import { plural } from '../kit/words.ts';
import { caseText } from '../results/cell.ts';
import type { CheckStatus, QueryResult, RunResult } from '../results/run-result.ts';
import { LAYERS } from '../results/run-result.ts';
import { comparisonText } from './diff/words.ts';
import type { ReportContext } from './reporter.ts';

export interface Change {
  readonly status: CheckStatus;
  /** Of the query, or of the metric. */
  readonly name: string;
  readonly text: string;
  readonly result?: QueryResult;
}

/** What is not as it was in the run before: what broke first, then what lost its verdict, what was mended, what got slower or dearer. */
export function changesOf(run: RunResult, { comparison, run: before }: NonNullable<ReportContext['before']>): Change[] {
  const now = new Map(run.results.map((result) => [caseText(result), result]));
  const was = new Map(before.results.map((result) => [caseText(result), result.xfail?.status ?? result.status]));
  const broken: Change[] = [];
  const mended: Change[] = [];
  for (const { id, after } of comparison.flips) {
    const result = now.get(id);
    const isMended = after === 'pass' || after === 'warn';
    const why = result === undefined ? undefined : reasonOf(result);
    const text = isMended
      ? 'failed before, passes now'
      : `passed before, fails now${why === undefined ? '' : `: ${why}`}`;
    (isMended ? mended : broken).push({ status: after, name: id, text, ...(result === undefined ? {} : { result }) });
  }
  const lost = [...now].flatMap(([name, result]): Change[] => {
    const before = was.get(name);
    if (result.status !== 'error' || (before !== 'pass' && before !== 'warn')) return [];
    const why = reasonOf(result);
    const text = `passed before, could not be judged now${why === undefined ? '' : `: ${why}`}`;
    return [{ status: 'error', name, text, result }];
  });
  const metrics = comparison.metrics
    .filter(({ verdict }) => verdict === 'worse' || verdict === 'better')
    .sort((a, b) => Number(a.verdict === 'better') - Number(b.verdict === 'better'))
    .map(
      (metric): Change => ({
        status: metric.verdict === 'worse' ? 'warn' : 'pass',
        name: metric.metric,
        text: comparisonText(metric),
      }),
    );
  return [...broken, ...lost, ...mended, ...metrics];
}

/** `12 queries in both runs, 2 new, 1 gone`: what the changes are about. */
export function comparedText({ comparison }: NonNullable<ReportContext['before']>): string {
  const { only_after, only_before, summary } = comparison;
  return [
    `${plural(summary.pairs, 'query', 'queries')} in both runs`,
    ...(only_after.length > 0 ? [`${only_after.length} new`] : []),
    ...(only_before.length > 0 ? [`${only_before.length} gone`] : []),
  ].join(', ');
}

/** What decided it, in one sentence. */
function reasonOf(result: QueryResult): string | undefined {
  if (result.error) return result.error.message;
  const checks = LAYERS.flatMap((layer) => result[layer].checks);
  return checks.find(({ status }) => status === result.status)?.message;
}
