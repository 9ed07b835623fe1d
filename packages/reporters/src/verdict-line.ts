import { formatMs } from '@agentci/lib/numbers';
import { andMore, escapeTerminalLine, formatCount, plural } from '@agentci/lib/text';
import type { CheckResult, RunResult, TraceWarning } from '@agentci/results';
import {
  casesText,
  caseText,
  checksOf,
  countsOf,
  isDecided,
  isOfSpec,
  isUnmeasured,
  mayHideCall,
} from '@agentci/results';
import type { createColors } from 'picocolors';

export type Colors = ReturnType<typeof createColors>;

/** Maximum unmeasured checks to name. */
export const MAX_UNMEASURED = 5;

/** Counts of queries by status, and of passed runs with repeats. */
export function countLine(run: RunResult, c: Colors): string {
  const { summary } = run;
  const notRun = run.interrupted
    ? run.results.filter(({ not_run }) => not_run !== undefined).length
    : 0;
  const counts = [
    [summary.passed - summary.warnings, 'passed', c.green],
    [summary.warnings, 'warned', c.yellow],
    [summary.failed, 'failed', c.red],
    [summary.errors, 'could not be judged', c.magenta],
    [summary.skipped - notRun, 'skipped', c.dim],
    [notRun, 'not run', c.dim],
  ] as const;
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, word, color]) => color(`${formatCount(count)} ${word}`));
  const checks = run.results.reduce(
    (sum, result) => sum + countsOf(result).checkCount,
    run.checks.length,
  );
  const duration = run.duration_ms === undefined ? '' : ` in ${formatMs(run.duration_ms)}`;
  const facts = `(${repeats(run)}${plural(checks, 'check')}${duration})`;
  const ended = parts.length === 0 ? '' : `: ${parts.join(', ')}`;
  return `${c.bold(casesText(run.results))}${ended} ${c.dim(facts)}`;
}

/** Runs that could not be judged are in neither number, and the queries report them. */
function repeats({ results }: RunResult): string {
  const rates = results.flatMap(({ pass_rate }) => pass_rate ?? []);
  if (rates.length === 0) return '';
  const sum = (key: 'passed' | 'decided') => rates.reduce((total, rate) => total + rate[key], 0);
  const runs = `${formatCount(sum('passed'))} of ${plural(sum('decided'), 'run')} passed`;
  // The other queries have one run each, counted before.
  return rates.length === results.length
    ? `${runs}, `
    : `of ${plural(rates.length, 'query', 'queries')} with repeats ${runs}, `;
}

/** Explains the exit code in words. */
export function exitLine(run: RunResult, c: Colors): string {
  const { summary } = run;
  switch (summary.exit_code) {
    case 0:
      if (!isAnyDecided(run)) return c.yellow('nothing was exercised (exit 0)');
      return c.green(summary.warnings > 0 ? 'ok: nothing failed (exit 0)' : 'ok (exit 0)');
    case 1:
      return c.red(
        summary.failed > 0 || run.checks.some((check) => check.status === 'fail')
          ? 'failed (exit 1)'
          : `failed: warnings count under --strict${strictWarnings(run)} (exit 1)`,
      );
    case 130:
      return c.yellow('interrupted: finished queries are stored; --resume continues (exit 130)');
    default: {
      if (!isAnyDecided(run) && summary.errors === 0)
        return c.magenta('nothing was checked (exit 2)');
      const hasErrors = summary.errors > 0 || run.checks.some((check) => check.status === 'error');
      return c.magenta(`could not tell${hasErrors ? '' : unmeasured(run)} (exit 2)`);
    }
  }
}

/** Whether any check of the run passed, warned or failed. */
function isAnyDecided({ checks, results }: RunResult): boolean {
  const isVerdict = ({ status }: CheckResult): boolean => isDecided(status);
  return checks.some(isVerdict) || results.some((result) => checksOf(result).some(isVerdict));
}

/** Queries with this kind of warning: `q1 SCRIPT_UNUSED`. Undefined if there are none. */
function warned(
  { results }: RunResult,
  test: (warning: TraceWarning) => boolean,
): string | undefined {
  const names = results.flatMap((result) =>
    (result.warnings ?? [])
      .filter(test)
      .map(({ code }) => escapeTerminalLine(`${caseText(result)} ${code}`)),
  );
  return names.length === 0 ? undefined : andMore([...new Set(names)], MAX_UNMEASURED);
}

/** Names warnings about the spec. Warning checks are listed with their queries. */
function strictWarnings(run: RunResult): string {
  const names = warned(run, isOfSpec);
  return names === undefined ? '' : `: ${names}`;
}

/** Names the checks that made --strict exit 2, if nothing else did. */
function unmeasured(run: RunResult): string {
  const names = [
    ...run.checks.filter(isUnmeasured).map(({ id }) => id),
    ...run.results.flatMap((result) =>
      countsOf(result).unmeasured.map((id) => `${caseText(result)} ${id}`),
    ),
  ];
  const unique = [...new Set(names)];
  if (unique.length === 0) {
    const hiding = warned(run, mayHideCall);
    if (hiding !== undefined)
      return `: a trace that may lack a call counts under --strict: ${hiding}`;
    return (run.unmatched_recordings ?? 0) > 0
      ? ': a recording that matches no query counts under --strict'
      : '';
  }
  const named = unique.slice(0, MAX_UNMEASURED).map(escapeTerminalLine).join(', ');
  const more =
    unique.length > MAX_UNMEASURED
      ? ` and ${formatCount(unique.length - MAX_UNMEASURED)} more`
      : '';
  return `: checks that could not be measured count under --strict: ${named}${more}`;
}
