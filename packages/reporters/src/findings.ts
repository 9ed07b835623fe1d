import type { Location } from '@agentci/lib/problems';
import { LAYERS, type Layer, type QueryResult, type RunResult } from '@agentci/results';

/**
 * A finding of a run: a check that did not pass, a query that could not be judged, an unreadable
 * record.
 */
export interface Finding {
  /** `error` if it makes the run fail or inconclusive. */
  readonly level: 'error' | 'warning';
  /** The check's id, or `query.error` if a query could not be judged. */
  readonly checkId: string;
  readonly layer?: Layer;
  readonly message: string;
  readonly location: Location | undefined;
  /** Absent for findings about the whole run. */
  readonly result?: QueryResult;
}

export const QUERY_ERROR = 'query.error';

/** The id of a recording's warning next to checks: `trace.usage_drift`. */
export const warningId = (code: string): string => `trace.${code.toLowerCase()}`;

/** All findings, run-level ones first, then in spec order. */
export function findingsOf(run: RunResult): Finding[] {
  const findings: Finding[] = [];
  for (const check of run.checks) {
    if (check.status === 'pass' || check.status === 'skip') continue;
    const level = check.status === 'warn' ? 'warning' : 'error';
    findings.push({ level, checkId: check.id, message: check.message, location: check.location });
  }
  for (const result of run.results) findings.push(...findingsOfQuery(result));
  return findings;
}

export function findingsOfQuery(result: QueryResult): Finding[] {
  const findings: Finding[] = [];
  if (result.error) {
    findings.push({
      level: 'error',
      checkId: QUERY_ERROR,
      message: result.error.message,
      location: result.location,
      result,
    });
  }
  for (const { code, message } of result.warnings ?? [])
    findings.push({
      level: 'warning',
      checkId: warningId(code),
      message,
      location: result.location,
      result,
    });
  // Expected failures and failures within min_pass_rate do not fail the run, so they must not look
  // like it.
  const blocking = result.status === 'fail' || result.status === 'error';
  if (!blocking && result.xfail) return findings;
  for (const layer of LAYERS) {
    for (const check of result[layer].checks) {
      if (check.status === 'pass' || check.status === 'skip') continue;
      findings.push({
        level: blocking && check.status !== 'warn' ? 'error' : 'warning',
        checkId: check.id,
        layer,
        message: check.message,
        location: check.location ?? result.location,
        result,
      });
    }
  }
  return findings;
}
