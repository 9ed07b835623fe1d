import type { Trace } from '@agentci/trace';
import {
  type Fields,
  isFields,
  isGiven,
  listAt,
  objectAt,
  optionalText,
  parseSimple,
  TraceError,
} from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { problemWith } from '../../problem.ts';

/**
 * Traces of the Python AgentCI: `spans[]` with calls inside, in the order of spans. It writes a
 * cost of 0 next to tokens if the price is unknown, so that cost is dropped.
 */
export const adapter: Adapter = {
  format: 'agentci-upstream',
  summary: 'AgentCI (Python) traces and goldens: {trace_id, spans[{kind, tool_calls, llm_calls}]}',
  unit: 'record',
  detect: (sample) => (sample.length === 0 ? 0 : Math.min(...sample.map(likeness))),
  read: (records) => records.map(readOne),
};

function likeness(value: unknown): number {
  if (!isFields(value) || !Array.isArray(value.spans)) return 0;
  if (value.spans.length === 0)
    return typeof value.trace_id === 'string' && 'total_tool_calls' in value ? 0.9 : 0;
  return value.spans.slice(0, 20).every(isOwnSpan) ? 0.95 : 0;
}

/** Other tools write span trees under the same keys, but only this one lists calls inside each. */
const isOwnSpan = (span: unknown): boolean =>
  isFields(span) && (Array.isArray(span.tool_calls) || Array.isArray(span.llm_calls));

function readOne(record: RawRecord): AdapterItem {
  try {
    return read(record);
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    return problemWith(record, error);
  }
}

function read(record: RawRecord): AdapterItem {
  const log = objectAt(record.value, '');
  const spans = listAt(log.spans, 'spans').map((span, i) => objectAt(span, `spans[${i}]`));
  const metadata = isGiven(log.metadata) ? objectAt(log.metadata, 'metadata') : {};
  const form = {
    id: optionalText(log.trace_id, 'trace_id'),
    query: metadata.query ?? undefined,
    answer: answerOf(spans, metadata),
    tool_calls: hasList(spans, 'tool_calls')
      ? spans.flatMap((span) => calls(span.tool_calls).map(toolCall))
      : undefined,
    llm_calls: hasList(spans, 'llm_calls')
      ? spans.flatMap((span) => calls(span.llm_calls).map(llmCall))
      : undefined,
    handoffs: spans
      .filter((span) => span.kind === 'handoff')
      .map((span) => ({ from: span.from_agent ?? 'unknown', to: span.to_agent ?? span.name })),
    total_tokens: positive(log.total_tokens),
    cost_usd: positive(log.total_cost_usd),
    latency_ms: positive(log.total_duration_ms),
    metadata,
  };
  const parsed = parseSimple(withoutUndefined(form), {
    file: record.file,
    line: record.line,
  });
  if (!parsed.ok) return problemWith(record, parsed.issue);
  return { ok: true, trace: withAgents(parsed.trace, spans) };
}

const calls = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** The program writes empty lists too, so an absent one was not recorded. */
const hasList = (spans: readonly Fields[], key: string): boolean =>
  spans.length > 0 && spans.every((span) => Array.isArray(span[key]) || span.kind === 'handoff');

const toolCall = (call: Fields) =>
  withoutUndefined({
    name: call.tool_name,
    args: call.arguments,
    result: call.result ?? undefined,
    error: call.error,
    latency_ms: positive(call.duration_ms),
  });

const llmCall = (call: Fields) =>
  withoutUndefined({
    model: call.model,
    input_tokens: call.tokens_in,
    output_tokens: call.tokens_out,
    cost_usd: positive(call.cost_usd),
  });

/** The answer as that program finds it: explicit, else the output of the last span. */
function answerOf(spans: readonly Fields[], metadata: Fields): unknown {
  if (isGiven(metadata.final_output)) return metadata.final_output;
  const output = spans.at(-1)?.output_data;
  if (typeof output === 'string') return output;
  if (isGiven(output)) return JSON.stringify(output);
  return undefined;
}

/** Agents and whom they could hand over to, from the metadata of agent spans. */
function withAgents(trace: Trace, spans: readonly Fields[]): Trace {
  const agents = new Map(trace.agents.map((agent) => [agent.id, agent]));
  for (const span of spans) {
    if (span.kind !== 'agent' || typeof span.name !== 'string') continue;
    const metadata = isFields(span.metadata) ? span.metadata : {};
    const targets = Array.isArray(metadata.handoffs)
      ? metadata.handoffs.filter((name) => typeof name === 'string')
      : undefined;
    const known = agents.get(span.name);
    const canHandOffTo = targets ?? known?.canHandOffTo;
    agents.set(span.name, { ...known, id: span.name, name: span.name, canHandOffTo });
  }
  return {
    ...trace,
    source: { ...trace.source, format: 'agentci-upstream' },
    agents: [...agents.values()],
    captured: { ...trace.captured, agents: agents.size > 0 ? 'full' : trace.captured.agents },
  };
}

const positive = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined;

const withoutUndefined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
