import {
  captureLevel,
  type Fields,
  failureOf,
  isFields,
  isGiven,
  nothingCaptured,
  placeId,
  StepList,
  setArguments,
  type ToolStep,
  TRACE_SCHEMA,
  type Trace,
  TraceError,
} from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { problemWith } from '../../problem.ts';

/** Assay's recordings: documented lines, episodes, `assay.trace` records and the older single lines. */
export const adapter: Adapter = {
  format: 'assay',
  summary:
    'Assay traces: tool_call and tool_result lines, episodes, assay.trace records, older single lines',
  unit: 'file',
  detect: (sample) => (sample.length === 0 ? 0 : Math.min(...sample.map(likeness))),
  read: readFile,
};

const EPISODE_TYPES = new Set(['episode_start', 'step', 'episode_end']);

type Kind = 'line' | 'episode' | 'trace' | 'single' | 'decision';

function kindOf(value: unknown): Kind | undefined {
  if (!isFields(value) || 'jsonrpc' in value || 'schema' in value) return undefined;
  const { type } = value;
  if (type === 'assay.trace') return 'trace';
  if (type === 'assay.tool.decision') return 'decision';
  if (typeof type === 'string' && EPISODE_TYPES.has(type) && typeof value.episode_id === 'string')
    return 'episode';
  if (type === 'tool_call' && typeof value.episode_id === 'string') return 'episode';
  if (
    type === 'tool_call' &&
    (typeof value.tool === 'string' || typeof value.tool_name === 'string')
  )
    return 'line';
  if (type === 'tool_result' && ('result' in value || 'error' in value)) return 'line';
  const isAnswered = typeof value.response === 'string' || typeof value.text === 'string';
  if (
    type === undefined &&
    typeof value.tool === 'string' &&
    ('args' in value || 'arguments' in value)
  )
    return 'single';
  if (type === undefined && isAnswered && typeof value.prompt === 'string') return 'single';
  return undefined;
}

function likeness(value: unknown): number {
  switch (kindOf(value)) {
    case 'line':
      return 0.9;
    case 'episode':
    case 'trace':
    case 'decision':
      return 0.97;
    case 'single':
      // Other prompt logs use the same keys; Assay's spelling of a tool decides.
      return hasOwnCalls(value as Fields) ? 0.9 : 0.6;
    default:
      return 0;
  }
}

const hasOwnCalls = (value: Fields): boolean =>
  typeof value.tool === 'string' ||
  (Array.isArray(value.tool_calls) &&
    isFields(value.tool_calls[0]) &&
    'tool_name' in value.tool_calls[0]);

interface Draft {
  readonly trace: Trace;
  readonly list: StepList;
  readonly record: RawRecord;
  calls: Call[];
}

interface Call {
  readonly step: Omit<ToolStep, 'id' | 'seq'>;
  /** Position among the calls of its trace, then file order. */
  readonly order: readonly number[];
}

function* readFile(records: readonly RawRecord[]): Generator<AdapterItem> {
  const drafts: Draft[] = [];
  const lines: RawRecord[] = [];
  const episodes = new Map<string, RawRecord[]>();
  for (const record of records) {
    switch (kindOf(record.value)) {
      case 'line':
      case 'decision':
        lines.push(record);
        break;
      case 'episode': {
        const id = (record.value as Fields).episode_id as string;
        const list = episodes.get(id);
        if (list === undefined) episodes.set(id, [record]);
        else list.push(record);
        break;
      }
      case 'trace':
      case 'single': {
        const draft = yield* attempt(record, () => singleTrace(record));
        if (draft !== undefined) drafts.push(draft);
        break;
      }
      default:
        yield problemWith(record, {
          code: 'TRACE_BAD_FIELD',
          message: 'this line is none of the forms Assay writes',
        });
    }
  }
  for (const group of groups(lines)) {
    const draft = yield* attempt(group[0]!, () => lineTrace(group));
    if (draft !== undefined) drafts.push(draft);
  }
  for (const [id, group] of episodes) {
    const draft = yield* attempt(group[0]!, () => episodeTrace(id, group));
    if (draft !== undefined) drafts.push(draft);
  }
  drafts.sort((a, b) => (a.record.index ?? 0) - (b.record.index ?? 0));
  const total = drafts.reduce((sum, { calls }) => sum + calls.length, 0);
  for (const draft of drafts) yield finish(draft, total > 0);
}

function* attempt(
  record: RawRecord,
  build: () => Draft,
): Generator<AdapterItem, Draft | undefined> {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    yield problemWith(record, error);
    return undefined;
  }
}

function emptyDraft(record: RawRecord, id: string | undefined): Draft {
  const list = new StepList();
  return {
    list,
    record,
    calls: [],
    trace: {
      schema: TRACE_SCHEMA,
      id: id || placeId(record),
      source: {
        format: 'assay',
        file: record.file,
        line: record.line,
      },
      task: id === undefined ? undefined : { id },
      status: 'unknown',
      agents: [],
      steps: list.steps,
      meta: {},
      captured: nothingCaptured(),
      warnings: [],
    },
  };
}

/** Lines by run: by trace or session id, else the whole file. */
function groups(lines: readonly RawRecord[]): readonly (readonly RawRecord[])[] {
  const byRun = new Map<string, RawRecord[]>();
  for (const record of lines) {
    const { trace_id, session_id } = record.value as Fields;
    const key = text(trace_id) ?? text(session_id) ?? '';
    const list = byRun.get(key);
    if (list === undefined) byRun.set(key, [record]);
    else list.push(record);
  }
  return [...byRun.values()];
}

function lineTrace(records: readonly RawRecord[]): Draft {
  const [first] = records as [RawRecord];
  const { trace_id, session_id } = first.value as Fields;
  const draft = emptyDraft(first, text(trace_id) ?? text(session_id));
  const open = new Map<string, Call>();
  let lost = 0;
  for (const record of records) {
    const line = record.value as Fields;
    if (line.type === 'tool_result') {
      const call = open.get(idKey(line.id ?? line.tool_call_id));
      if (call === undefined) lost++;
      else {
        setResult(call.step, line);
        const t1 = timeOf(line.timestamp);
        if (t1 !== undefined) call.step.t1 = t1;
        open.delete(idKey(line.id ?? line.tool_call_id));
      }
      continue;
    }
    const isDecision = line.type === 'assay.tool.decision';
    const fields = isDecision && isFields(line.data) ? line.data : line;
    const call: Call = { step: toolStep(fields), order: [] };
    if (isDecision && fields.decision === 'deny') call.step.status = 'denied';
    const id = fields.id ?? fields.tool_call_id;
    if (typeof id === 'string' || typeof id === 'number') {
      open.set(idKey(id), call);
      call.step.callId = String(id);
    }
    draft.calls.push(call);
  }
  if (lost > 0)
    draft.trace.warnings.push({
      code: 'ASSAY_LOST_RESULT',
      message: `${lost} tool_result lines belong to no call`,
    });
  return draft;
}

/** 1 and "1" are different ids. */
const idKey = (id: unknown): string =>
  typeof id === 'string' || typeof id === 'number' ? `${typeof id} ${id}` : '';

function singleTrace(record: RawRecord): Draft {
  const fields = record.value as Fields;
  const id = text(fields.request_id) ?? text(fields.id) ?? text(fields.trace_id);
  const draft = emptyDraft(record, id);
  setPrompt(draft.trace, text(fields.prompt));
  setFinal(draft.trace, text(fields.response) ?? text(fields.text));
  if (isFields(fields.meta)) draft.trace.meta = fields.meta;
  const model = text(fields.model);
  if (model !== undefined && !Object.hasOwn(draft.trace.meta, 'model'))
    draft.trace.meta = { ...draft.trace.meta, model };
  if (typeof fields.tool === 'string') draft.calls.push({ step: toolStep(fields), order: [] });
  const calls = toolCallsOf(fields);
  if (calls !== undefined) {
    draft.trace.captured.toolCalls = 'full';
    for (const call of calls) {
      const index = typeof call.index === 'number' ? call.index : undefined;
      draft.calls.push({ step: toolStep(call), order: index === undefined ? [] : [index] });
    }
  }
  return draft;
}

function toolCallsOf(fields: Fields): readonly Fields[] | undefined {
  const meta = isFields(fields.meta) ? fields.meta : {};
  const list = fields.tool_calls ?? meta.tool_calls;
  if (!isGiven(list)) return undefined;
  if (!Array.isArray(list) || !list.every(isFields))
    throw new TraceError({
      code: 'TRACE_BAD_FIELD',
      message: '"tool_calls" must be a list of objects',
      path: 'tool_calls',
    });
  return list;
}

/** The steps with a tool_call event, and the place of each call. */
function stepOrder(ordered: readonly Fields[]) {
  const steps = new Map<string, number>();
  const told = new Set<string>();
  for (const event of ordered)
    if (event.type === 'step' && typeof event.step_id === 'string')
      steps.set(event.step_id, typeof event.idx === 'number' ? event.idx : steps.size);
  for (const event of ordered)
    if (event.type === 'tool_call' && typeof event.step_id === 'string') told.add(event.step_id);
  const orderOf = (event: Fields): number[] => [
    steps.get(text(event.step_id) ?? '') ?? Number.MAX_SAFE_INTEGER,
    typeof event.call_index === 'number' ? event.call_index : 0,
  ];
  return { told, orderOf };
}

function episodeTrace(id: string, records: readonly RawRecord[]): Draft {
  const draft = emptyDraft(records[0]!, id);
  const { trace } = draft;
  trace.status = 'incomplete';
  const ordered = records.map(({ value }) => value as Fields);
  const { told, orderOf } = stepOrder(ordered);
  for (const event of ordered) {
    switch (event.type) {
      case 'episode_start': {
        const input = isFields(event.input) ? event.input : {};
        setPrompt(trace, text(input.prompt));
        if (isFields(event.meta)) trace.meta = event.meta;
        const at = timeOf(event.timestamp);
        if (at !== undefined) trace.startedAt = at;
        break;
      }
      case 'tool_call':
        draft.calls.push({ step: toolStep(event), order: orderOf(event) });
        break;
      case 'step':
        // A tool step without its tool_call event: the call was made with unknown arguments.
        if (
          event.kind === 'tool' &&
          typeof event.name === 'string' &&
          !told.has(text(event.step_id) ?? '')
        )
          draft.calls.push({
            step: toolStep({ tool: event.name, timestamp: event.timestamp }),
            order: orderOf(event),
          });
        else if (event.kind !== 'tool')
          draft.list.add({
            kind: 'event',
            name: text(event.name) ?? text(event.kind) ?? 'step',
            data: event.content,
            status: 'ok',
          });
        break;
      case 'episode_end': {
        trace.status = 'ok';
        setFinal(trace, text(event.final_output));
        const at = timeOf(event.timestamp);
        if (at !== undefined) trace.endedAt = at;
        break;
      }
    }
  }
  if (trace.status === 'incomplete')
    trace.warnings.push({
      code: 'ASSAY_NO_END',
      message: 'the episode has no episode_end: it was cut off',
    });
  return draft;
}

/** Orders the calls and sets capture levels. */
function finish(draft: Draft, fileHasCalls: boolean): AdapterItem {
  const { trace, list, record } = draft;
  const calls = draft.calls
    .map((call, i) => ({ ...call, i }))
    .sort(
      (a, b) =>
        (a.order[0] ?? 0) - (b.order[0] ?? 0) || (a.order[1] ?? 0) - (b.order[1] ?? 0) || a.i - b.i,
    );
  for (const { step } of calls) list.add(step);
  const { captured } = trace;
  const steps = calls.map(({ step }) => step);
  if (steps.length > 0) {
    captured.toolCalls = 'full';
    captured.toolArgs = captureLevel(
      steps.filter((s) => s.args !== undefined).length,
      steps.length,
    );
    captured.toolResults = captureLevel(
      steps.filter((s) => s.result !== undefined).length,
      steps.length,
    );
    captured.toolErrors = captureLevel(
      steps.filter((s) => s.status !== 'unknown').length,
      steps.length,
    );
    if (steps.some((s) => s.t0 !== undefined)) captured.timing = 'partial';
  } else if (fileHasCalls && captured.toolCalls === 'none' && isEpisode(record)) {
    // Other episodes of the file have calls, which proves that calls were recorded.
    captured.toolCalls = 'full';
    captured.toolArgs = 'full';
  } else if (captured.toolCalls === 'none') {
    trace.warnings.push({ code: 'ASSAY_NO_CALLS', message: 'the recording has no tool calls' });
    if (trace.final === undefined)
      return problemWith(record, {
        code: 'ASSAY_NO_CALLS',
        message: 'the recording holds neither tool calls nor an answer',
      });
  }
  return { ok: true, trace };
}

const isEpisode = ({ value }: RawRecord): boolean => kindOf(value) === 'episode';

function toolStep(fields: Fields): Call['step'] {
  const name = text(fields.tool) ?? text(fields.tool_name) ?? text(fields.name);
  if (name === undefined)
    throw new TraceError({
      code: 'TRACE_BAD_FIELD',
      message: 'a tool call has no tool name',
      path: 'tool',
    });
  const step: Call['step'] = {
    kind: 'tool',
    name,
    status: 'unknown',
    by: 'client',
    evidence: ['proxy'],
  };
  setArguments(step, fields.args ?? fields.arguments);
  setResult(step, fields);
  const t0 = timeOf(fields.timestamp);
  if (t0 !== undefined) step.t0 = t0;
  return step;
}

function setResult(step: Call['step'], fields: Fields): void {
  const error = failureOf(fields.error, 'error');
  if (error !== undefined) {
    step.error = error;
    step.status = 'error';
  }
  if (!isGiven(fields.result)) return;
  step.result = fields.result;
  if (error === undefined) step.status = 'ok';
}

function setPrompt(trace: Trace, prompt: string | undefined): void {
  if (prompt === undefined) return;
  trace.task = {
    ...trace.task,
    input: [{ role: 'user', parts: [{ type: 'text', text: prompt }] }],
  };
  trace.captured.prompts = 'partial';
}

function setFinal(trace: Trace, answer: string | undefined): void {
  if (answer === undefined) return;
  trace.final = { text: answer };
  trace.captured.final = 'full';
  if (trace.status === 'unknown') trace.status = 'ok';
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Epoch milliseconds, or a full ISO date with its zone. */
function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})$/.test(value)
  )
    return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}
