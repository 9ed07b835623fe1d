import { hasValues } from '@agentci/lib/data';
import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Call, DraftStep, GapNote, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { worst } from '../../build/likeness.ts';
import { turnOfText, turnsOf } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  resultOf,
  text,
  time,
} from '../../build/values.ts';
import { wordsOf } from '../../otel/messages.ts';

const FORMAT = 'mastra';
const TYPES =
  /^(?:agent_run|workflow_\w+|model_generation|model_step|model_inference|model_chunk|tool_call|mcp_tool_call|client_tool_call|provider_tool_call|processor_run|memory_operation|rag_\w+|generic|scorer_\w+)$/;

/**
 * Spans of Mastra's exporters. Usage is on generation, step and inference, and the innermost
 * counts.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Mastra: exported spans (agent_run, model_generation, tool_call …)',
  unit: 'file',
  detect: (sample) => worst(sample, (value) => (spansOf(value).length > 0 ? 0.97 : 0)),
  read: (records) => {
    const traces = new Map<string, Fields[]>();
    for (const span of records.flatMap((record) => spansOf(record.value))) {
      const id = label(span.traceId) ?? '';
      const group = traces.get(id);
      if (group === undefined) traces.set(id, [span]);
      else group.push(span);
    }
    return [...traces].flatMap(([id, spans]) =>
      tryBuild(records[0]!, () => ({
        id: id !== '' ? id : undefined,
        source: { format: FORMAT },
        steps: spans.map(stepOf),
        gaps: absentSpans(records, traces),
        records: AGENT_RECORD,
      })),
    );
  },
};

/** A printed tree has an outline with a line for every span. */
function absentSpans(
  records: readonly RawRecord[],
  traces: ReadonlyMap<string, readonly Fields[]>,
): GapNote[] {
  const found = [...traces.values()].reduce((sum, spans) => sum + spans.length, 0);
  const outlined = records.reduce((sum, { value }) => {
    const outline = fields(value).__structure__;
    return sum + (Array.isArray(outline) ? outline.length : 0);
  }, 0);
  return outlined > found
    ? [{ gap: 'absentChildren', detail: `${outlined} spans outlined, ${found} found` }]
    : [];
}

const isSpan = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.type === 'string' &&
  TYPES.test(value.type) &&
  'traceId' in value &&
  'startTime' in value;

/** A span, the event that carries it, or a list under `spans`. */
function spansOf(value: unknown): Fields[] {
  if (isSpan(value)) return [value];
  if (!isFields(value)) return [];
  if (isSpan(value.exportedSpan)) return value.type === 'span_ended' ? [value.exportedSpan] : [];
  return objects(value.spans).flatMap((item) => (isSpan(item) ? [item] : treeSpans(item)));
}

const MAX_DEPTH = 64;

/** A nested tree of `{span, children}`, as Mastra's test exporter prints it. */
function treeSpans(root: Fields): Fields[] {
  const found: Fields[] = [];
  const open: { node: Fields; parent: string | undefined; depth: number }[] = [
    { node: root, parent: undefined, depth: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent, depth } = next;
    if (!isFields(node.span) || !isTreeSpan(node.span)) continue;
    found.push(parent === undefined ? node.span : { parentSpanId: parent, ...node.span });
    if (depth >= MAX_DEPTH) continue;
    for (const child of objects(node.children).toReversed())
      open.push({ node: child, parent: label(node.span.id) ?? parent, depth: depth + 1 });
  }
  return found;
}

/** Times may have been taken out. */
const isTreeSpan = (span: Fields): boolean =>
  typeof span.type === 'string' && TYPES.test(span.type) && 'traceId' in span;

function stepOf(span: Fields): DraftStep {
  const attributes = fields(span.attributes);
  const info = fields(span.errorInfo);
  const failed = attributes.success === false || isFields(span.errorInfo);
  const base = {
    key: label(span.id),
    parent: label(span.parentSpanId),
    t0: time(span.startTime),
    t1: time(span.endTime),
    error: failed
      ? { message: label(info.message), type: label(info.name), stack: text(info.stack) }
      : undefined,
    status: failed ? ('error' as const) : ('ok' as const),
  };
  const name =
    label(pick(span, 'entityName')) ?? /'(.+)'$/.exec(label(span.name) ?? '')?.[1] ?? 'unknown';
  switch (span.type) {
    case 'agent_run': {
      const asked = wordsOf(span.input);
      const said = wordsOf(span.output);
      let input: Turn[] | undefined;
      if (Array.isArray(span.input)) input = turnsOf(span.input);
      else if (asked === undefined) input = undefined;
      else input = [turnOfText('user', asked)];
      return {
        ...base,
        kind: 'agent',
        name,
        input,
        output: said === undefined ? undefined : turnOfText('assistant', said),
      };
    }
    case 'model_generation':
    case 'model_step':
    case 'model_inference':
      return { ...base, kind: 'llm', ...llm(span, attributes) };
    case 'tool_call':
    case 'mcp_tool_call':
    case 'client_tool_call':
    case 'provider_tool_call': {
      let by: 'provider' | 'mcp' | 'client' | 'subagent' | undefined;
      if (span.type === 'mcp_tool_call') by = 'mcp';
      else if (span.type === 'provider_tool_call') by = 'provider';
      return {
        ...base,
        kind: 'tool',
        name: toolName(span) ?? name,
        ...argumentsOf(span.input),
        callId: label(attributes.toolCallId),
        result: failed ? undefined : resultOf(span.output),
        by,
        server: label(attributes.mcpServer),
      };
    }
    default:
      return { ...base, kind: 'span' };
  }
}

/** `tool: 'get_weather'`; the adjacent entity is the agent. */
const toolName = (span: Fields): string | undefined => {
  const entity = span.entityType === 'tool' ? label(span.entityName) : undefined;
  return (
    label(fields(span.attributes).toolId) ??
    entity ??
    /^(?:mcp )?tool: '(.+)'/.exec(label(span.name) ?? '')?.[1]
  );
};

function llm(span: Fields, attributes: Fields) {
  const input = Array.isArray(span.input) ? span.input : fields(span.input).messages;
  const turns = turnsOf(Array.isArray(input) ? input : []);
  return {
    model: label(pick(attributes, 'responseModel', 'model')),
    provider: label(attributes.provider),
    usage: usageOf(fields(attributes.usage)),
    finish: finishOf(attributes.finishReason),
    responseId: label(attributes.responseId),
    input: turns.length === 0 ? undefined : turns,
    output: replyOf(fields(span.output)),
  };
}

function usageOf(usage: Fields): Usage | undefined {
  const input = fields(usage.inputDetails);
  const counts: Usage = {
    input: amount(pick(usage, 'inputTokens', 'promptTokens')),
    output: amount(pick(usage, 'outputTokens', 'completionTokens')),
    cacheRead: amount(input.cacheRead),
    cacheWrite: amount(input.cacheWrite),
    reasoning: amount(fields(usage.outputDetails).reasoning),
  };
  return hasValues(counts) ? counts : undefined;
}

function replyOf(output: Fields): Turn | undefined {
  const calls = objects(output.toolCalls).flatMap((call): Call[] => {
    const payload = isFields(call.payload) ? call.payload : call;
    const called = label(payload.toolName);
    return called === undefined
      ? []
      : [
          {
            name: called,
            ...argumentsOf(pick(payload, 'args', 'input')),
            id: label(payload.toolCallId),
          },
        ];
  });
  const said = text(output.text);
  if (said === undefined && calls.length === 0) return undefined;
  return { ...turnOfText('assistant', said ?? ''), calls: calls.length === 0 ? undefined : calls };
}
