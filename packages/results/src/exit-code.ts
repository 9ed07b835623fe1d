import { suitePassHatK } from '@agentci/stats';
import type {
  CheckResult,
  CheckStatus,
  QueryResult,
  RunResult,
  RunSummaryCounts,
  TraceWarning,
} from './run-result.ts';
import { isDecided, isUnmeasured } from './status.ts';
import { countsOf } from './stored-result.ts';
import { isOfSpec, mayHideCall } from './trace-warnings.ts';

/** The finding that the model did not finish its answer. */
export const TRUNCATED = 'answer.truncated';

/**
 * Reports rules that decided nothing because no recording knows their tools. Exits 2 under
 * --strict.
 */
export const UNKNOWN_TOOLS = 'rules.unknown_tools';

/** The inputs of an exit code. */
type Verdicts = Pick<RunResult, 'results' | 'checks' | 'interrupted' | 'unmatched_recordings'>;

interface ExitOptions {
  readonly strict?: boolean;
  /** The run is a shard. Only the whole run must have checked something. */
  readonly isShard?: boolean;
  /** Some merged shards are missing or damaged. */
  readonly isIncomplete?: boolean;
}

/**
 * 0: nothing failed, 1: a check failed, 2: could not tell, 130: interrupted. A run that checked
 * nothing is 2, because it proved nothing. With `strict`, warnings count as 1 (script warnings
 * included). Unmeasured checks of the user, recordings that may lack a call, and unmatched
 * recordings count as 2.
 */
export function exitCode(run: Verdicts, options: ExitOptions = {}): number {
  if (run.interrupted) return 130;
  // The missing verdicts may be anything, so a known failure does not make the run a judged one.
  if (options.isIncomplete) return 2;
  const has = (wanted: CheckStatus): boolean =>
    run.results.some(({ status }) => status === wanted) ||
    run.checks.some(({ status }) => status === wanted);
  if (has('fail')) return 1;
  if (options.strict && (has('warn') || hasWarning(run, isOfSpec))) return 1;
  if (has('error') || (!options.isShard && nothingChecked(run))) return 2;
  if (options.strict && (hasUnmeasured(run) || isDoubtful(run))) return 2;
  if (options.strict && run.checks.some(({ id }) => id === UNKNOWN_TOOLS)) return 2;
  return 0;
}

/** Whether the recordings may be incomplete. */
const isDoubtful = (run: Verdicts): boolean =>
  (run.unmatched_recordings ?? 0) > 0 || hasWarning(run, mayHideCall);

const hasWarning = ({ results }: Verdicts, test: (warning: TraceWarning) => boolean): boolean =>
  results.some(({ warnings = [] }) => warnings.some(test));

/** Whether no check was decided, for other reasons than a rule whose condition never came up. */
function nothingChecked(run: Verdicts): boolean {
  const isWritten = ({ id }: CheckResult): boolean => id !== TRUNCATED;
  if (someCheck(run, (check) => isWritten(check) && isDecided(check.status))) return false;
  return (
    !someCheck(run, isWritten) ||
    someCheck(run, (check) => isWritten(check) && check.skip_reason !== 'not_exercised')
  );
}

const hasUnmeasured = ({ results, checks }: Verdicts): boolean =>
  checks.some(isUnmeasured) || results.some((result) => countsOf(result).unmeasured.length > 0);

/** Whether any check matches. Does not build a list, because a run may be large. */
function someCheck({ results, checks }: Verdicts, test: (check: CheckResult) => boolean): boolean {
  return (
    results.some(({ correctness, path, cost }) =>
      [correctness, path, cost].some((layer) => layer.checks.some(test)),
    ) || checks.some(test)
  );
}

/** Counts for the summary: passed includes warnings, and total = passed + failed + errors + skipped. */
export function summarize(run: Verdicts, options: ExitOptions = {}): RunSummaryCounts {
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
    ...passHat(run.results),
  };
}

/** More values of k would fill the report with numbers that hardly differ. */
const MAX_K = 10;

/** Skipped queries, and those with only errors, say nothing about the pass rate. */
function passHat(results: readonly QueryResult[]): Pick<RunSummaryCounts, 'pass_hat_k'> {
  if (!results.some(({ pass_rate }) => pass_rate !== undefined)) return {};
  const tasks = results.flatMap(({ pass_rate, status }) => {
    if (pass_rate !== undefined)
      return pass_rate.decided > 0 ? [{ n: pass_rate.decided, c: pass_rate.passed }] : [];
    return isDecided(status) ? [{ n: 1, c: status === 'fail' ? 0 : 1 }] : [];
  });
  const pass_hat_k = suitePassHatK(tasks, { maxK: MAX_K });
  return pass_hat_k.length === 0 ? {} : { pass_hat_k };
}
