import { plural } from '@agentci/lib/text';
import type { CheckStatus, RunResult, RunSummaryCounts } from './run-result.ts';

/** The statuses behind each count. A pass with a warning is a pass. */
const COUNTED: Readonly<
  Record<'passed' | 'failed' | 'warnings' | 'errors' | 'skipped', readonly CheckStatus[]>
> = {
  passed: ['pass', 'warn'],
  failed: ['fail'],
  warnings: ['warn'],
  errors: ['error'],
  skipped: ['skip'],
};

/**
 * The contradiction between a run's summary and its results, in words that follow its name.
 * Undefined if there is none.
 */
export function summaryFault({
  summary,
  results,
}: Pick<RunResult, 'summary' | 'results'>): string | undefined {
  if (summary.total !== results.length)
    return `has "summary.total": ${summary.total} and ${plural(results.length, 'result')}`;
  for (const [name, statuses] of Object.entries(COUNTED)) {
    const said = summary[name as keyof typeof COUNTED];
    const found = results.filter(({ status }) => statuses.includes(status)).length;
    if (said !== found)
      return `has "summary.${name}": ${said}, and ${found} of its ${plural(results.length, 'result')} with the status ${statuses.join(' or ')}`;
  }
  return undefined;
}

/** Whether the counts add up to the total. */
export const addsUp = (
  counts: Pick<RunSummaryCounts, 'total' | 'passed' | 'failed' | 'warnings' | 'errors' | 'skipped'>,
): boolean =>
  counts.passed + counts.failed + counts.errors + counts.skipped === counts.total &&
  counts.warnings <= counts.passed;
