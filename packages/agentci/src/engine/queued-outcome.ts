import { isObject } from '../kit/object.ts';
import type { CassetteUse, QueryError, QueryResult, RunResult } from '../results/run-result.ts';
import type { Query } from '../spec/suite.ts';
import { maskTrace } from '../trace/mask-trace.ts';
import type { Trace } from '../trace/model.ts';
import { validateTrace } from '../trace/schema.ts';
import { upgradeTrace } from '../trace/upgrade.ts';
import { errorResult } from './combine-runs.ts';
import type { Outcome } from './live-agent.ts';
import { withoutSecrets } from './without-secrets.ts';

/** What the models that play users were asked. */
type Usage = NonNullable<RunResult['user']>;

/** What a worker sends: without secrets, and without what cannot travel. */
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

/** What a worker sent. Whoever can write to the queue may have written it, so all of it is looked at; what cannot be read is an error. */
export function readOutcome(
  body: unknown,
  query: Query,
): { readonly outcome: Outcome; readonly user: Usage | undefined } {
  if (!isObject(body)) return unreadable(query, 'it is not one of AgentCI');
  const user = usageIn(body.user);
  const trace = body.trace === undefined ? undefined : traceIn(body.trace);
  if (typeof trace === 'string') return unreadable(query, trace);
  if (body.kind === 'failed') {
    const { result } = body;
    if (!isFailure(result, query)) return unreadable(query, 'its verdict has the wrong form');
    return { outcome: { kind: 'failed', result, trace }, user };
  }
  if (body.kind !== 'judge' || trace === undefined) return unreadable(query, 'it has no trace');
  if (body.played === undefined) return { outcome: { kind: 'judge', trace }, user };
  const { played } = body;
  if (!isObject(played) || !isUse(played.use))
    return unreadable(query, 'what it says of the cassette has the wrong form');
  return {
    outcome: {
      kind: 'judge',
      trace,
      played: { use: played.use, warnings: warningsIn(played.warnings) },
    },
    user,
  };
}

const unreadable = (query: Query, why: string) => ({
  outcome: failedOutcome(query, 'worker', `the result of a worker cannot be read: ${why}`),
  user: undefined,
});

/** A run that came to nothing. */
export const failedOutcome = (
  query: Query,
  kind: QueryError['kind'],
  message: string,
): Outcome => ({
  kind: 'failed',
  result: errorResult(query, { kind, message }),
});

/** A query that has killed worker after worker. */
export const lostOutcome = (query: Query, workers: number): Outcome =>
  failedOutcome(
    query,
    'worker_lost',
    `${workers} workers died while they ran it, the last ones with nothing else to do`,
  );

function traceIn(value: unknown): Trace | string {
  const upgraded = upgradeTrace(value);
  if (!upgraded.ok) return upgraded.issue.message;
  const checked = validateTrace(upgraded.value);
  return checked.ok ? checked.trace : checked.issues[0]!.message;
}

/** Only that there is nothing to judge may be said by a worker; verdicts are made here. */
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
  (value.mode === 'replay' || value.mode === 'record' || value.mode === 'auto') &&
  ['hits', 'misses', 'scrubbed', 'unused'].every((key) => typeof value[key] === 'number') &&
  typeof value.isolated === 'boolean' &&
  Array.isArray(value.planes);

const warningsIn = (value: unknown): Trace['warnings'] =>
  Array.isArray(value)
    ? value.flatMap((each) =>
        isObject(each) && typeof each.code === 'string' && typeof each.message === 'string'
          ? [{ code: each.code, message: each.message }]
          : [],
      )
    : [];

const COUNTS = ['calls', 'cached', 'input_tokens', 'output_tokens'] as const;

function usageIn(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const number = (key: string): number =>
    typeof value[key] === 'number' ? (value[key] as number) : 0;
  const counts = Object.fromEntries(COUNTS.map((key) => [key, number(key)])) as Record<
    (typeof COUNTS)[number],
    number
  >;
  return { ...counts, cost_usd: value.cost_usd === null ? null : number('cost_usd') };
}

/** Both together, or what one has more than the other; what one does not know the sum does not know. */
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
