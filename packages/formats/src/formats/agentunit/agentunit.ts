import {
  addMultiAgent,
  agentsIn,
  captureLevel,
  type Fields,
  failureOf,
  hasReading,
  isFields,
  isGiven,
  listAt,
  nothingCaptured,
  objectAt,
  optionalText,
  placeId,
  refuse,
  resourceOf,
  StepList,
  setArguments,
  type ToolStep,
  TRACE_SCHEMA,
  type Trace,
  TraceError,
  type Usage,
} from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { problemWith } from '../../problem.ts';

/** AgentUnit's trace logs: events of one agent, and interactions of several. */
export const adapter: Adapter = {
  format: 'agentunit',
  summary: 'AgentUnit logs: {events, metadata, interactions, handoffs, conflicts, agent_roles}',
  unit: 'record',
  detect: (sample) => (sample.length === 0 ? 0 : Math.min(...sample.map(likeness))),
  read: (records) => records.map(readOne),
};

const MULTI_AGENT_KEYS = ['interactions', 'handoffs', 'conflicts', 'agent_roles'];
const LOG_KEYS = ['events', 'metadata', ...MULTI_AGENT_KEYS];

function likeness(value: unknown): number {
  if (!isFields(value) || 'schema' in value || isSpan(value)) return 0;
  if (Array.isArray(value.events)) {
    const [first] = value.events;
    if (first === undefined) return 0.7;
    return isFields(first) && typeof first.type === 'string' && isFields(first.payload) ? 0.95 : 0;
  }
  const isSimple = 'answer' in value || 'tool_calls' in value || 'query' in value;
  return !isSimple && MULTI_AGENT_KEYS.some((key) => key in value) ? 0.7 : 0;
}

/** Spans of every exporter have a list of events too. */
const isSpan = (value: Fields): boolean =>
  [
    'spanContext',
    'context',
    'traceId',
    'trace_id',
    'spanId',
    'span_id',
    'startTime',
    'start_time',
  ].some((key) => key in value);

function readOne(record: RawRecord): AdapterItem {
  try {
    return { ok: true, trace: logTrace(record) };
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    return problemWith(record, error);
  }
}

function logTrace(record: RawRecord): Trace {
  const log = objectAt(record.value, '');
  if (!LOG_KEYS.some((key) => isGiven(log[key])))
    refuse('', `an object with one of ${LOG_KEYS.join(', ')}`, log);
  const captured = nothingCaptured();
  const list = new StepList();
  const trace: Trace = {
    schema: TRACE_SCHEMA,
    id: optionalText(log.id, 'id') ?? placeId(record),
    source: {
      format: 'agentunit',
      file: record.file,
      line: record.line,
    },
    status: 'unknown',
    agents: [],
    steps: list.steps,
    meta: {},
    captured,
    warnings: [],
  };
  const prompt = isGiven(log.events) ? addEvents(trace, list, log.events) : undefined;
  addMultiAgent(list, log, captured, ['interactions', 'handoffs']);
  trace.agents = agentsIn(list, log, captured);
  setTask(trace, log, prompt);
  if (isGiven(log.metadata)) setMetadata(trace, objectAt(log.metadata, 'metadata'));
  return trace;
}

/** Adds the events and returns the first prompt. */
function addEvents(trace: Trace, list: StepList, value: unknown): string | undefined {
  const { captured } = trace;
  let calls = 0;
  let withArgs = 0;
  let withResult = 0;
  let timed = 0;
  let prompt: string | undefined;
  const events = listAt(value, 'events');
  for (const [i, item] of events.entries()) {
    const path = `events[${i}]`;
    const event = objectAt(item, path);
    const payload = isGiven(event.payload) ? objectAt(event.payload, `${path}.payload`) : {};
    const t0 = timeOf(event.created_at);
    const at = t0 === undefined ? {} : { t0 };
    if (t0 !== undefined) {
      timed++;
      trace.startedAt ??= t0;
    }
    if (event.type === 'tool_call') {
      const step = toolStep(payload);
      if (payload.name === undefined) {
        trace.warnings.push({
          code: 'AGENTUNIT_UNNAMED_TOOL',
          message: `"${path}.payload" has no tool name`,
        });
      }
      calls++;
      if (step.args !== undefined) withArgs++;
      if (step.result !== undefined) withResult++;
      list.add({ ...step, ...at });
      continue;
    }
    const name = optionalText(event.type, `${path}.type`) ?? 'event';
    const isError = name === 'error';
    const error = isError ? (failureOf(payload, path) ?? {}) : undefined;
    const id = list.add({
      kind: 'event',
      name,
      data: payload,
      status: isError ? 'error' : 'ok',
      error,
      ...at,
    });
    if (name === 'agent_prompt' && typeof payload.content === 'string') prompt ??= payload.content;
    if (name === 'agent_response' && isGiven(payload.content)) {
      trace.final = { ...finalOf(payload.content), step: id };
      captured.final = 'full';
      trace.status = 'ok';
    }
  }
  captured.toolCalls = 'full';
  captured.toolErrors = 'full';
  captured.toolArgs = captureLevel(withArgs, calls);
  captured.toolResults = captureLevel(withResult, calls);
  if (timed > 0) captured.timing = 'partial';
  return prompt;
}

function finalOf(content: unknown): NonNullable<Trace['final']> {
  if (typeof content === 'string') return { text: content };
  return typeof content === 'object' ? { data: content } : { text: String(content) };
}

type ToolCall = Omit<ToolStep, 'id' | 'seq'>;

function toolStep(payload: Fields): ToolCall {
  const { name, status, args, result, error, ...rest } = payload;
  const step: ToolCall = {
    kind: 'tool',
    name: typeof name === 'string' && name !== '' ? name : 'unknown',
    status: status === undefined || status === null || status === 'success' ? 'ok' : 'error',
    by: 'client',
    evidence: ['message'],
  };
  setArguments(step, args ?? rest.arguments);
  if (result !== undefined) step.result = result;
  const failure = failureOf(
    typeof error === 'object' || typeof error === 'string' ? error : undefined,
    'error',
  );
  if (failure !== undefined) step.error = failure;
  if (Object.keys(rest).length > 0) step.meta = rest;
  return step;
}

/** Only full ISO dates: `Date.parse` guesses at anything else. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/;

function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !ISO_DATE.test(value)) return undefined;
  // AgentUnit writes UTC, but a time without a zone would be parsed as local time.
  const time = Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/.test(value.slice(10)) ? value : `${value}Z`);
  return Number.isNaN(time) ? undefined : time;
}

function setTask(trace: Trace, log: Fields, prompt: string | undefined): void {
  const id = optionalText(log.id, 'id');
  const query = optionalText(log.query, 'query') ?? prompt;
  if (id === undefined && query === undefined) return;
  trace.task = {
    id,
    input:
      query === undefined ? undefined : [{ role: 'user', parts: [{ type: 'text', text: query }] }],
  };
  if (query !== undefined) trace.captured.prompts = 'partial';
}

function setMetadata(trace: Trace, metadata: Fields): void {
  trace.meta = metadata;
  const usage = isFields(metadata.usage) ? usageOf(metadata.usage) : undefined;
  const { cost } = metadata;
  const isCost = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0;
  if (isGiven(cost) && !isCost) {
    trace.warnings.push({
      code: 'AGENTUNIT_BAD_COST',
      message: '"metadata.cost" is not an amount of money and was ignored',
    });
  }
  if (usage !== undefined || isCost) {
    trace.reported = {
      usage,
      cost: isCost ? { usd: cost, source: 'reported' as const } : undefined,
    };
  }
  if (usage !== undefined) trace.captured.usage = 'full';
  if (isCost) trace.captured.cost = 'full';
  if (hasReading(metadata)) trace.resources = [resourceOf(readings(metadata), 'metadata')];
}

/**
 * Readings among the metadata. Keys with another meaning, such as `duration` or `source`, are
 * excluded.
 */
function readings({ energy_kwh, carbon_kg, cpu_percent, memory_mb, gpu_percent }: Fields): Fields {
  const entries = Object.entries({ energy_kwh, carbon_kg, cpu_percent, memory_mb, gpu_percent });
  return Object.fromEntries(
    entries.filter(([, value]) => typeof value === 'number' && Number.isFinite(value)),
  );
}

function usageOf(fields: Fields): Usage | undefined {
  const input = countOf(fields.prompt_tokens ?? fields.input_tokens);
  const output = countOf(fields.completion_tokens ?? fields.output_tokens);
  const total = countOf(fields.total_tokens);
  if (input === undefined && output === undefined && total === undefined) return undefined;
  const parts = (input ?? 0) + (output ?? 0);
  return {
    input,
    output,
    total: total === 0 ? parts : total,
  };
}

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
