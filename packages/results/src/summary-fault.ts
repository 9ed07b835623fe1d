import { plural } from '@agentci/lib/text';
import type { CheckStatus, RunResult, RunSummaryCounts } from './run-result.ts';

/** What each count of a summary is of; one that passed with a warning passed. */
const COUNTED: Readonly<
  Record<'passed' | 'failed' | 'warnings' | 'errors' | 'skipped', readonly CheckStatus[]>
> = {
  passed: ['pass', 'warn'],
  failed: ['fail'],
  warnings: ['warn'],
  errors: ['error'],
  skipped: ['skip'],
};

/** What in the summary of a run does not fit its own results, in words that follow its name; undefined where all of it does. */
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

/** The same of the counts alone: what passed, failed, was skipped or could not be judged is all there is. */
export const addsUp = (
  counts: Pick<RunSummaryCounts, 'total' | 'passed' | 'failed' | 'warnings' | 'errors' | 'skipped'>,
): boolean =>
  counts.passed + counts.failed + counts.errors + counts.skipped === counts.total &&
  counts.warnings <= counts.passed;
