import { isObject } from '../kit/object.ts';
import type { CassetteUse, QueryResult, RunResult } from '../results/run-result.ts';
import type { Query } from '../spec/suite.ts';
import { maskTrace } from '../trace/mask-trace.ts';
import type { Trace } from '../trace/model.ts';
import { validateTrace } from '../trace/schema.ts';
import { upgradeTrace } from '../trace/upgrade.ts';
import { errorResult } from './combine-runs.ts';
import type { Outcome } from './live-agent.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Usage of the models that play users. */
type Usage = NonNullable<RunResult['user']>;

/** Encodes an outcome for the queue, with secrets masked. */
export function outcomeBody(outcome: Outcome, user: Usage | undefined): unknown {
  const trace = outcome.trace === undefined ? undefined : maskTrace(outcome.trace);
  if (outcome.kind === 'failed')
    return { kind: 'failed', result: withoutSecrets(outcome.result), trace, user };
  const { played } = outcome;
  return {
    kind: 'judge',
    trace,
    played: played === undefined ? undefined : { use: played.use, warnings: played.warnings },
    user,
  };
}

/** Encodes the failure of a worker. */
export const failureBody = (error: 'worker' | 'worker_lost', message: string): unknown => ({
  kind: 'error',
  error,
  message,
});

/** Reads what a worker sent. Anyone with access to the queue can write there, so what is not valid becomes an error. */
export function readOutcome(
  body: unknown,
  query: Query,
): { readonly outcome: Outcome; readonly user?: Usage | undefined } {
  const fail = (message: string, kind: 'worker' | 'worker_lost' = 'worker') => ({
    outcome: { kind: 'failed', result: errorResult(query, { kind, message }) } as const,
  });
  const unreadable = (why: string) => fail(`the result of a worker cannot be read: ${why}`);
  if (!isObject(body)) return unreadable('it is not one of AgentCI');
  const { kind, result, played, error, message } = body;
  if (kind === 'error' && typeof message === 'string')
    return fail(message, error === 'worker_lost' ? error : 'worker');
  const user = usageIn(body.user);
  const trace = body.trace === undefined ? undefined : traceIn(body.trace);
  if (typeof trace === 'string') return unreadable(trace);
  if (kind === 'failed')
    return isFailure(result, query)
      ? { outcome: { kind, result, trace }, user }
      : unreadable('its verdict has the wrong form');
  if (kind !== 'judge' || trace === undefined) return unreadable('it has no trace');
  if (played === undefined) return { outcome: { kind, trace }, user };
  if (!isObject(played) || !isUse(played.use))
    return unreadable('what it says of the cassette has the wrong form');
  const { use, warnings } = played;
  return { outcome: { kind, trace, played: { use, warnings: warningsIn(warnings) } }, user };
}

function traceIn(value: unknown): Trace | string {
  const upgraded = upgradeTrace(value);
  if (!upgraded.ok) return upgraded.issue.message;
  const checked = validateTrace(upgraded.value);
  return checked.ok ? checked.trace : checked.issues[0]!.message;
}

/** A worker may only report that there is nothing to judge. */
const isFailure = (value: unknown, query: Query): value is QueryResult =>
  isObject(value) &&
  value.id === query.id &&
  value.status === 'error' &&
  isObject(value.error) &&
  typeof value.error.kind === 'string' &&
  typeof value.error.message === 'string' &&
  ['correctness', 'path', 'cost'].every((layer) => {
    const part = value[layer];
    return isObject(part) && Array.isArray(part.checks) && isObject(part.details);
  });

const isUse = (value: unknown): value is CassetteUse =>
  isObject(value) &&
  ['replay', 'record', 'auto'].includes(value.mode as string) &&
  ['hits', 'misses', 'scrubbed', 'unused'].every((key) => typeof value[key] === 'number') &&
  typeof value.isolated === 'boolean' &&
  Array.isArray(value.planes);

const warningsIn = (value: unknown): Trace['warnings'] =>
  (Array.isArray(value) ? value : []).flatMap((each) =>
    isObject(each) && typeof each.code === 'string' && typeof each.message === 'string'
      ? [{ code: each.code, message: each.message }]
      : [],
  );

function usageIn(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const number = (each: unknown): number => (typeof each === 'number' ? each : 0);
  return {
    calls: number(value.calls),
    cached: number(value.cached),
    input_tokens: number(value.input_tokens),
    output_tokens: number(value.output_tokens),
    cost_usd: value.cost_usd === null ? null : number(value.cost_usd),
  };
}

/** Adds or subtracts usage. An unknown cost makes the sum unknown. */
export function addUsage(
  a: Usage | undefined,
  b: Usage | undefined,
  sign: 1 | -1 = 1,
): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const sum = (x = 0, y = 0): number => x + sign * y;
  return {
    calls: sum(a.calls, b.calls),
    cost_usd: a.cost_usd === null || b.cost_usd === null ? null : sum(a.cost_usd, b.cost_usd),
    cached: sum(a.cached, b.cached),
    input_tokens: sum(a.input_tokens, b.input_tokens),
    output_tokens: sum(a.output_tokens, b.output_tokens),
  };
}
