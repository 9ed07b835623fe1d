import { resolve } from 'node:path';
import { formatDiagnostic, type Location, UserError } from '@agentci/lib/problems';
import { escapeTerminal, escapeTerminalLine } from '@agentci/lib/text';
import type { CheckResult, QueryResult } from '@agentci/results';
import { caseText, checksOf, isOfSpec, isUnmeasured, mayHideCall } from '@agentci/results';

const MAX_STDERR_LINES = 8;

/** A framework's test failure: every finding with its location. The stack points into the spec. */
export class SpecFailure extends Error {
  constructor(message: string, at?: Location) {
    super(message);
    this.name = 'SpecFailure';
    // Frameworks show the code at the top of a stack. The line of the spec is more useful than
    // ours.
    this.stack = `${this.name}: ${message}${at === undefined ? '' : `\n    at ${resolve(at.file)}:${at.line}:${at.column}`}`;
  }
}

/** The failure of a query, or `undefined` if it passed, warned or was skipped. */
export function failureOf(result: QueryResult, { strict = false } = {}): SpecFailure | undefined {
  const blocking = checksOf(result).filter(({ status }) => status === 'fail' || status === 'error');
  const counted = strict
    ? checksOf(result).filter((check) => check.status === 'warn' || isUnmeasured(check))
    : [];
  const doubts = strict
    ? (result.warnings ?? []).filter((warning) => mayHideCall(warning) || isOfSpec(warning))
    : [];
  const failed = result.status === 'fail' || result.status === 'error';
  if (!failed && (counted.length + doubts.length === 0 || result.status === 'skip'))
    return undefined;
  const found = failed ? [...blocking, ...counted] : counted;
  const lines = [`${caseText(result)}: ${failed ? result.status : 'not clean under strict'}`];
  if (result.error) lines.push(...errorLines(result));
  if (result.xfail && failed)
    lines.push(`  it passed though it is xfail: ${escapeTerminalLine(result.xfail.reason)}`);
  if (result.pass_rate && failed) lines.push(`  ${rateText(result.pass_rate)}`);
  lines.push(...found.map((check) => `  ${checkText(check)}`));
  lines.push(
    ...doubts.map(({ code, message }) => `  ${escapeTerminalLine(`${code}: ${message}`)}`),
  );
  return new SpecFailure(lines.join('\n'), found[0]?.location ?? result.location);
}

/** Remarks on a passed query, one line per warning. */
export function warningsOf(result: QueryResult): string[] {
  return checksOf(result)
    .filter(({ status }) => status === 'warn')
    .map((check) => `${caseText(result)}: warn: ${checkText(check)}`);
}

/** The skip reason of an undecided query. */
export function skipReason(result: QueryResult): string {
  if (result.xfail) return `expected failure: ${result.xfail.reason}`;
  if (result.skip !== undefined) return result.skip.reason;
  if (result.not_run !== undefined) return result.not_run;
  const [first] = checksOf(result);
  return first === undefined ? 'it has no checks' : `${first.id}: ${first.message}`;
}

/** `file:line:column id: message`, with the value and the limit if the message omits them. */
export function checkText({ id, message, value, limit, location }: CheckResult): string {
  const place =
    location === undefined ? '' : `${location.file}:${location.line}:${location.column} `;
  const told = [numberText('measured', value, message), numberText('limit', limit, message)].filter(
    Boolean,
  );
  return escapeTerminalLine(
    `${place}${id}: ${message}${told.length === 0 ? '' : ` (${told.join(', ')})`}`,
  );
}

function numberText(name: string, value: unknown, message: string): string {
  return typeof value === 'number' && !message.includes(String(value)) ? `${name} ${value}` : '';
}

const rateText = ({ passed, decided, min }: NonNullable<QueryResult['pass_rate']>): string =>
  `${passed} of ${decided} decided runs passed, at least ${min * 100} % must`;

function errorLines({ error, location }: QueryResult): string[] {
  const place =
    location === undefined ? '' : `${location.file}:${location.line}:${location.column} `;
  const printed = (error?.stderr ?? '')
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .slice(-MAX_STDERR_LINES);
  return [
    `  ${escapeTerminalLine(`${place}${error?.message}`)}`,
    ...printed.map((line) => `    | ${escapeTerminalLine(line)}`),
  ];
}

/** The error for an invalid spec, with all its problems. Unexpected errors keep their stack. */
export function loadFailure(error: unknown): Error {
  if (!(error instanceof UserError))
    return error instanceof Error ? error : new Error(String(error));
  const problems = error.diagnostics.filter(({ severity }) => severity === 'error');
  const text = problems.length > 0 ? problems.map(formatDiagnostic).join('\n') : error.message;
  return new SpecFailure(
    escapeTerminal(`${text}${error.hint === undefined ? '' : `\nhint: ${error.hint}`}`),
    problems[0],
  );
}
