import { isObject } from '@agentci/lib/data';
import { accepts, v } from '@agentci/lib/values';
import type { QueryResult, RunResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { maskTrace, upgradeTrace, validateTrace } from '@agentci/trace';
import type { Played } from './cassettes.ts';
import { errorResult } from './combine-runs.ts';
import { withoutSecrets } from './ledger.ts';
import type { Outcome } from './live-agent.ts';

/** Usage of the models that simulate users. */
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

/**
 * Reads a worker's message. Anyone with access to the queue can write there, so invalid content
 * becomes an error.
 */
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
  const user = accepts(USAGE, body.user) ? (body.user as Usage) : undefined;
  const trace = body.trace === undefined ? undefined : traceIn(body.trace);
  if (typeof trace === 'string') return unreadable(trace);
  if (kind === 'failed')
    return accepts(FAILURE, result) && (result as QueryResult).id === query.id
      ? { outcome: { kind, result: result as QueryResult, trace }, user }
      : unreadable('its verdict has the wrong form');
  if (kind !== 'judge' || trace === undefined) return unreadable('it has no trace');
  if (played === undefined) return { outcome: { kind, trace }, user };
  return accepts(PLAYED, played)
    ? { outcome: { kind, trace, played: played as Played }, user }
    : unreadable('what it says of the cassette has the wrong form');
}

function traceIn(value: unknown): Trace | string {
  const upgraded = upgradeTrace(value);
  if (!upgraded.ok) return upgraded.issue.message;
  const checked = validateTrace(upgraded.value);
  return checked.ok ? checked.trace : checked.issues[0]!.message;
}

const LAYER = v.looseObject({ checks: v.array(v.unknown()), details: v.looseObject({}) });
/** A worker may only report that there is nothing to judge. */
const FAILURE = v.looseObject({
  id: v.string(),
  status: v.literal('error'),
  error: v.looseObject({ kind: v.string(), message: v.string() }),
  correctness: LAYER,
  path: LAYER,
  cost: LAYER,
});
const PLAYED = v.strictObject({
  use: v.looseObject({
    mode: v.enum(['replay', 'record', 'auto']),
    hits: v.number(),
    misses: v.number(),
    scrubbed: v.number(),
    unused: v.number(),
    isolated: v.boolean(),
    planes: v.array(v.unknown()),
  }),
  warnings: v.array(v.looseObject({ code: v.string(), message: v.string() })),
});
const USAGE = v.looseObject({
  calls: v.number(),
  cached: v.number(),
  input_tokens: v.number(),
  output_tokens: v.number(),
  cost_usd: v.number().nullable(),
});

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
