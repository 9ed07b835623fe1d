import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, DraftStep } from '../../build/draft.ts';
import { turnsOf } from '../../build/messages.ts';
import { TEAM_RECORD } from '../../build/records.ts';
import { usageOf } from '../../build/token-usage.ts';
import { sumUsage } from '../../build/usage.ts';
import { argumentsOf, fields, label, resultOf, time } from '../../build/values.ts';
import { merged } from '../../otel/messages.ts';

export const isTraceRecord = (value: unknown): boolean =>
  isFields(value) &&
  ((value.object === 'trace.span' && isFields(value.span_data)) ||
    (value.object === 'trace' && 'workflow_name' in value));

interface Placed {
  readonly record: RawRecord;
  readonly value: Fields;
}

/** The runs in a tracing export, one per trace. */
export function spanItems(records: readonly Placed[], format: string): AdapterItem[] {
  const traces = new Map<string, Placed[]>();
  for (const placed of records) {
    const { value } = placed;
    const id = label(value.object === 'trace' ? value.id : value.trace_id) ?? '';
    const list = traces.get(id);
    if (list === undefined) traces.set(id, [placed]);
    else list.push(placed);
  }
  return [...traces].flatMap(([id, list]) =>
    tryBuild(list[0]!.record, () =>
      draftOf(
        id,
        list.map(({ value }) => value),
        format,
      ),
    ),
  );
}

function draftOf(id: string, records: readonly Fields[], format: string): Draft {
  const trace = records.find(({ object }) => object === 'trace');
  const spans = records.filter(({ object }) => object === 'trace.span');
  const usage = taskUsage(spans);
  return {
    source: { format, dialects: ['tracing'], traceIds: id !== '' ? [id] : undefined },
    id: id !== '' ? id : undefined,
    steps: spans.map((span) => (isBareTurn(span, spans) ? bareTurn(span) : stepOf(span))),
    gaps: spans.some((span) => isBareTurn(span, spans))
      ? [{ gap: 'absentReplies', detail: 'turns without a reply' }]
      : [],
    reported: usage === undefined ? undefined : { usage },
    records: TEAM_RECORD,
    meta: { workflow: label(trace?.workflow_name), group: label(trace?.group_id) },
  };
}

/** A turn is one model call, even if it has no span for it. */
function isBareTurn(span: Fields, spans: readonly Fields[]): boolean {
  const { type, data, name } = fields(span.span_data);
  const isTurn =
    type === 'turn' ||
    (type === 'custom' && (fields(data).sdk_span_type === 'turn' || name === 'turn'));
  return isTurn && !spans.some((other) => isReplySpan(other) && isUnder(other, span, spans));
}

const isReplySpan = ({ span_data }: Fields): boolean =>
  ['response', 'generation'].includes(label(fields(span_data).type) ?? '');

function isUnder(span: Fields, turn: Fields, spans: readonly Fields[]): boolean {
  const id = label(turn.id);
  if (id === undefined) return false;
  let above = label(span.parent_id);
  for (let i = 0; above !== undefined && i < MAX_DEPTH; i++) {
    if (above === id) return true;
    above = label(spans.find((other) => label(other.id) === above)?.parent_id);
  }
  return false;
}
const MAX_DEPTH = 64;

const bareTurn = (span: Fields): DraftStep => ({ ...stepOf(span), kind: 'llm' }) as DraftStep;

/** Responses are exported without tokens, and their task has the sum. */
function taskUsage(spans: readonly Fields[]): Usage | undefined {
  const data = spans.map((span) => fields(span.span_data));
  if (
    data.some(
      ({ type, usage }) => (type === 'response' || type === 'generation') && isFields(usage),
    )
  )
    return undefined;
  const tasks = data.filter(
    ({ type, data: inner }) => type === 'custom' && fields(inner).sdk_span_type === 'task',
  );
  return sumUsage(tasks.map(({ data: inner }) => usageOf(fields(inner).usage)));
}

/** The SDK's own `custom` spans (`task`, `turn`) repeat inner tokens and give no step. */
function stepOf(span: Fields): DraftStep {
  const data = fields(span.span_data);
  const message = isFields(span.error) ? label(span.error.message) : undefined;
  const base = {
    key: label(span.id),
    parent: label(span.parent_id),
    t0: time(span.started_at),
    t1: time(span.ended_at),
    status: message === undefined ? ('ok' as const) : ('error' as const),
    error: message === undefined ? undefined : { message },
  };
  const name = label(data.name) ?? 'unknown';
  switch (data.type) {
    case 'agent':
      return { kind: 'agent', name, ...base };
    case 'generation':
    case 'response': {
      const input = turnsOf(data.input);
      return {
        kind: 'llm',
        ...base,
        input: input.length !== 0 ? input : undefined,
        output: merged(turnsOf(data.output)),
        model: label(data.model),
        usage: usageOf(data.usage),
      };
    }
    case 'function':
      return {
        kind: 'tool',
        name,
        ...base,
        ...argumentsOf(data.input),
        result: resultOf(data.output ?? undefined),
        by: isFields(data.mcp_data) ? 'mcp' : undefined,
        server: isFields(data.mcp_data) ? label(data.mcp_data.server) : undefined,
      };
    case 'handoff':
      return {
        kind: 'handoff',
        to: label(data.to_agent) ?? 'unknown',
        mode: 'pass',
        ...base,
        from: label(data.from_agent),
      };
    case 'guardrail':
      return { kind: 'guardrail', name, triggered: data.triggered === true, ...base };
    default:
      return { kind: 'span', ...base };
  }
}
