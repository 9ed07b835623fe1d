import { hasValues } from '@agentci/lib/data';
import type { Trace, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, DraftStep, GapNote, Turn } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { messageTurns, turnOfText } from '../../build/messages.ts';
import { TRACING_RECORD } from '../../build/records.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  number,
  objects,
  pick,
  resultOf,
  text,
  time,
  unpacked,
} from '../../build/values.ts';
import { anyTurns, merged, wordsOf } from '../../otel/messages.ts';

const FORMAT = 'langwatch';

/** LangWatch traces from its API or its SDKs. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'LangWatch traces: {trace_id, spans: [{span_id, type, input, output, timestamps}]}',
  unit: 'record',
  detect: (sample) => worst(sample, (value) => (isTrace(value) ? 0.97 : 0)),
  read: (records) =>
    records.flatMap((record) => tryBuild(record, () => draftOf(fields(record.value)))),
};

const isTrace = (value: unknown): boolean =>
  isFields(value) &&
  'trace_id' in value &&
  Array.isArray(value.spans) &&
  value.spans.length > 0 &&
  value.spans.every(isSpan);

const isSpan = (span: unknown): boolean =>
  isFields(span) &&
  typeof span.span_id === 'string' &&
  typeof span.type === 'string' &&
  isFields(span.timestamps) &&
  'started_at' in span.timestamps;

function draftOf(trace: Fields): Draft {
  const spans = objects(trace.spans);
  const metrics = fields(trace.metrics);
  const usd = amount(metrics.total_cost);
  const usage = usageOf(metrics);
  const failure = fields(trace.error);
  const asked = wordsOf(contentIn(trace.input));
  const said = wordsOf(contentIn(trace.output));
  const failed = failure.has_error === true || text(failure.message) !== undefined;
  return {
    source: {
      format: FORMAT,
      version: label(fields(trace.metadata)['langwatch.sdk.version']),
    },
    steps: spans.map(stepOf),
    records: TRACING_RECORD,
    gaps: absentSpans(trace, spans),
    outcomes: outcomesOf(trace, spans),
    reported: {
      cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
      usage,
      durationMs: amount(metrics.total_time_ms),
    },
    id: label(trace.trace_id),
    task:
      asked === undefined
        ? undefined
        : {
            input: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: asked }] }],
          },
    final: said === undefined ? undefined : { text: said },
    status: failed ? ('error' as const) : undefined,
    error: failed ? { message: text(failure.message) } : undefined,
    meta: { session: label(fields(trace.metadata).thread_id) },
  };
}

/** The tree of a trace has a line for every span. */
function absentSpans(trace: Fields, spans: readonly Fields[]): GapNote[] {
  const tree = text(trace.ascii_tree);
  const lines =
    tree === undefined ? 0 : tree.split('\n').filter((line) => /\S+: /.test(line)).length;
  return lines > spans.length
    ? [{ gap: 'absentChildren', detail: `${lines} spans in the tree, ${spans.length} found` }]
    : [];
}

function stepOf(span: Fields): DraftStep {
  const failure = fields(span.error);
  const failed = failure.has_error === true || text(failure.message) !== undefined;
  const { started_at, finished_at } = fields(span.timestamps);
  const base = {
    status: failed ? ('error' as const) : ('ok' as const),
    key: label(span.span_id),
    parent: label(span.parent_id),
    t0: time(started_at),
    t1: time(finished_at),
    error: failed
      ? { message: text(failure.message), stack: stackOf(failure.stacktrace) }
      : undefined,
  };
  const name = label(span.name) ?? 'unknown';
  const input = contentIn(span.input);
  const output = contentIn(span.output);
  switch (span.type) {
    case 'llm':
      return { ...base, kind: 'llm', ...llmOf(span, input, output) };
    case 'tool':
      return {
        ...base,
        kind: 'tool',
        name: label(fields(fields(fields(span.params).gen_ai).tool).name) ?? name,
        ...argumentsOf(isFields(input) || Array.isArray(input) ? input : (text(input) ?? input)),
        result: resultOf(output),
      };
    case 'agent':
      return {
        ...base,
        kind: 'agent',
        name,
        input: turnsIn(input),
        output: merged(turnsIn(output, 'assistant') ?? []),
        usage: usageOf(fields(span.metrics)),
      };
    case 'rag':
      return {
        ...base,
        kind: 'retrieval',
        documents: objects(span.contexts).map(documentOf),
        query: wordsOf(input),
      };
    case 'guardrail': {
      const { passed } = fields(output);
      return { ...base, kind: 'guardrail', name, triggered: passed === false };
    }
    default:
      return { ...base, kind: 'span' };
  }
}

const stackOf = (trace: unknown): string | undefined =>
  Array.isArray(trace)
    ? text(trace.filter((line) => typeof line === 'string').join('\n'))
    : text(trace);

const documentOf = (context: Fields): { id?: string; text?: string; score?: number } => ({
  id: label(pick(context, 'document_id', 'chunk_id')),
  text:
    typeof context.content === 'string'
      ? text(context.content)
      : text(JSON.stringify(context.content)),
  score: number(context.score),
});

function llmOf(span: Fields, input: unknown, output: unknown) {
  const metrics = fields(span.metrics);
  const usd = amount(metrics.cost);
  const { started_at, first_token_at } = fields(span.timestamps);
  const [from, first] = [time(started_at), time(first_token_at)];
  return {
    model: label(span.model),
    provider: label(span.vendor),
    input: turnsIn(input),
    output: merged(turnsIn(output, 'assistant') ?? []),
    usage: usageOf(metrics),
    cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
    ttftMs: from === undefined || first === undefined || first < from ? undefined : first - from,
  };
}

/** Typed values: `{type: "chat_messages" | "text" | "json" | …, value}`. */
function contentIn(given: unknown): unknown {
  if (Array.isArray(given)) return contentIn(given[0]);
  return isFields(given) && 'value' in given ? unpacked(given.value) : undefined;
}

/** Messages, a reply of a provider, or words. */
function turnsIn(value: unknown, role: 'user' | 'assistant' = 'user'): Turn[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return [turnOfText(role, value)];
  const choices = objects(fields(value).choices).map(({ message }) => fields(message));
  if (choices.length > 0) return messageTurns({ ...choices[0], role: 'assistant' });
  const isMessage =
    isFields(value) && ('role' in value || 'content' in value || 'tool_calls' in value);
  let turns: Turn[];
  if (Array.isArray(value)) turns = anyTurns(value);
  else if (isMessage) turns = messageTurns({ role, ...value });
  else turns = [];
  if (turns.length > 0) return turns;
  const words = wordsOf(value);
  return words === undefined ? undefined : [turnOfText(role, words)];
}

function usageOf(metrics: Fields): Usage | undefined {
  const usage: Usage = {
    input: amount(metrics.prompt_tokens),
    output: amount(metrics.completion_tokens),
    cacheRead: amount(pick(metrics, 'cache_read_input_tokens', 'cached_tokens')),
    cacheWrite: amount(metrics.cache_creation_input_tokens),
    reasoning: amount(metrics.reasoning_tokens),
  };
  return hasValues(usage) ? usage : undefined;
}

/** Evaluator scores, next to the spans or as separate spans. */
function outcomesOf(trace: Fields, spans: readonly Fields[]): NonNullable<Trace['outcomes']> {
  const own = spans
    .filter(({ type }) => type === 'evaluation')
    .map((span) => ({ ...fields(contentIn(span.output)), name: span.name }));
  return [...objects(trace.evaluations), ...own].flatMap((found: Fields) => {
    const name = label(found.name) ?? label(found.evaluator_id);
    const value =
      number(found.score) ?? (typeof found.passed === 'boolean' ? found.passed : undefined);
    return name === undefined || value === undefined ? [] : [{ name, value }];
  });
}
