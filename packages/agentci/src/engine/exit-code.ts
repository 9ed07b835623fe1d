import type { QueryResult, RunResult, RunSummaryCounts } from '../results/run-result.ts';
import { checksOf, isDecided, isUnmeasured } from '../results/status.ts';

/** What an exit code is decided from. */
type Verdicts = Pick<RunResult, 'results' | 'checks' | 'interrupted'>;

/**
 * 0 nothing failed, 1 a rule said no, 2 we could not tell, 130 interrupted. A run that checked nothing is 2: nothing was
 * proved. With `strict` a warning counts as 1, and a check the user wrote that could not be measured as 2.
 */
export function exitCode(run: Verdicts, options: { strict?: boolean } = {}): number {
  if (run.interrupted) return 130;
  const statuses = [...run.results.map((result) => result.status), ...run.checks.map((check) => check.status)];
  if (statuses.includes('fail')) return 1;
  if (options.strict && statuses.includes('warn')) return 1;
  if (statuses.includes('error') || nothingChecked(run)) return 2;
  if (options.strict && hasUnmeasured(run)) return 2;
  return 0;
}

/** No check was decided at all, and not merely because no rule's condition came up. */
function nothingChecked(run: Verdicts): boolean {
  const checks = [...run.results.flatMap(checksOf), ...run.checks];
  if (checks.some((check) => isDecided(check.status))) return false;
  return checks.length === 0 || checks.some((check) => check.skip_reason !== 'not_exercised');
}

function hasUnmeasured(run: Verdicts): boolean {
  return [...run.results.flatMap(checksOf), ...run.checks].some(isUnmeasured);
}

/** Counts for the summary: passed includes warnings, and total = passed + failed + errors + skipped. */
export function summarize(run: Verdicts, options: { strict?: boolean } = {}): RunSummaryCounts {
  const count = (wanted: (result: QueryResult) => boolean) => run.results.filter(wanted).length;
  const warnings = count((result) => result.status === 'warn');
  return {
    total: run.results.length,
    passed: count((result) => result.status === 'pass') + warnings,
    failed: count((result) => result.status === 'fail'),
    warnings,
    errors: count((result) => result.status === 'error'),
    skipped: count((result) => result.status === 'skip'),
    xfailed: count((result) => result.xfail !== undefined && result.status === 'skip'),
    exit_code: exitCode(run, options),
  };
}
