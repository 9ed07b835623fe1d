import { parseUnambiguous } from '@agentci/lib/json';
import { captureLevel } from './captured.ts';
import { failureOf } from './failure.ts';
import {
  type Fields,
  isFields,
  listAt,
  objectAt,
  optionalAmount,
  optionalText,
  refuse,
  textAt,
} from './fields.ts';
import { finishOf } from './finish.ts';
import type { Captured, LlmStep, ToolStep, Usage } from './model.ts';
import type { StepList } from './step-list.ts';
import { parallelCalls, splitToolName, UNNAMED } from './tool-name.ts';

type Note = (key: string, path: string, known: ReadonlySet<string>, value: unknown) => void;

const TOOL_CALL_KEYS = new Set([
  'id',
  'name',
  'args',
  'result',
  'error',
  'status',
  'latency_ms',
  'agent',
]);

/** Converts a Chat Completions call, `{type, function: {name, arguments}}`, to the simple form. */
function inOwnWords(fields: Fields): Fields {
  const { type: _, function: called, ...rest } = fields;
  if (fields.name !== undefined || !isFields(called)) return fields;
  const { name, arguments: args, ...others } = called;
  return { ...others, ...rest, name, args: args ?? rest.args };
}

const STEP_STATUSES: ReadonlyMap<unknown, ToolStep['status']> = new Map([
  ['ok', 'ok'],
  ['success', 'ok'],
  ['error', 'error'],
  ['denied', 'denied'],
  ['cancelled', 'cancelled'],
  ['pending', 'pending'],
  ['unknown', 'unknown'],
]);

/** The simple form's `tool_calls` → tool steps, with their capture level. */
export function addToolCalls(list: StepList, value: unknown, captured: Captured, note: Note): void {
  const calls = listAt(value, 'tool_calls');
  let withArgs = 0;
  let withResult = 0;
  let withOutcome = 0;
  let withTime = 0;
  let count = 0;
  let unnamed = 0;
  for (let i = 0; i < calls.length; i++) {
    const path = `tool_calls[${i}]`;
    const fields = inOwnWords(objectAt(calls[i], path));
    for (const key in fields)
      if (!TOOL_CALL_KEYS.has(key)) note(key, path, TOOL_CALL_KEYS, fields[key]);
    const inner =
      typeof fields.name === 'string'
        ? parallelCalls(fields.name, parsedArguments(fields.args))
        : undefined;
    if (inner !== undefined) {
      for (const call of inner)
        list.steps.push(toolStep(list.next, { ...call, id: fields.id }, path));
      unnamed += inner.filter(({ name }) => name === UNNAMED).length;
      count += inner.length;
      withArgs += inner.length;
      continue;
    }
    const step = toolStep(list.next, fields, path);
    count++;
    if (step.name === UNNAMED) unnamed++;
    if (step.args !== undefined) withArgs++;
    if (step.result !== undefined) withResult++;
    if (step.status !== 'unknown') withOutcome++;
    if (step.meta !== undefined) withTime++;
    list.steps.push(step);
  }
  captured.toolCalls = unnamed > 0 ? 'partial' : 'full';
  captured.toolArgs = captureLevel(withArgs, count);
  captured.toolResults = captureLevel(withResult, count);
  captured.toolErrors = captureLevel(withOutcome, count);
  if (withTime > 0) captured.timing = 'partial';
}

type Numbered = Pick<ToolStep, 'id' | 'seq'>;

function toolStep({ id, seq }: Numbered, fields: Fields, path: string): ToolStep {
  const written = textAt(fields.name, `${path}.name`);
  const { name, server } = splitToolName(written);
  const step: ToolStep = {
    id,
    seq,
    kind: 'tool',
    name,
    status: toolStatus(fields, path),
    by: 'client',
    evidence: ['message'],
  };
  if (name !== written) step.rawName = written;
  if (server !== undefined) {
    step.server = server;
    step.by = 'mcp';
  }
  setArguments(step, fields.args);
  if (fields.result !== undefined) step.result = fields.result;
  const error = failureOf(fields.error, `${path}.error`);
  if (error !== undefined) step.error = error;
  const callId = optionalText(fields.id, `${path}.id`);
  if (callId !== undefined) step.callId = callId;
  const agent = optionalText(fields.agent, `${path}.agent`);
  if (agent !== undefined) step.agent = agent;
  const durationMs = optionalAmount(fields.latency_ms, `${path}.latency_ms`);
  if (durationMs !== undefined) step.meta = { durationMs };
  return step;
}

/**
 * An explicit error or status decides. A result without either means success; nothing at all is
 * unknown.
 */
function toolStatus(fields: Fields, path: string): ToolStep['status'] {
  if (fields.status !== undefined && fields.status !== null) {
    return (
      STEP_STATUSES.get(fields.status) ??
      refuse(`${path}.status`, 'ok, error, denied or cancelled', fields.status)
    );
  }
  if (fields.error === undefined) return fields.result === undefined ? 'unknown' : 'ok';
  return fields.error === null || fields.error === false ? 'ok' : 'error';
}

/** The arguments as a value, parsed if they are JSON text. */
function parsedArguments(args: unknown): unknown {
  const holder: Pick<ToolStep, 'args' | 'argsRaw'> = {};
  setArguments(holder, args);
  return holder.args;
}

/**
 * Sets the arguments and parses JSON text, which some SDKs give. Other text is kept as `argsRaw`.
 */
export function setArguments(step: Pick<ToolStep, 'args' | 'argsRaw'>, value: unknown): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'string') {
    step.args = value;
    return;
  }
  const args = parseUnambiguous(value);
  // Recordings contain Python reprs and truncated JSON. They are kept as written.
  if (args === undefined) step.argsRaw = value;
  else step.args = args;
}

const LLM_CALL_KEYS = new Set([
  'model',
  'provider',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'cost_usd',
  'latency_ms',
  'agent',
  'finish_reason',
]);

/** The simple form's `llm_calls` list → llm steps, with their capture level. */
export function addLlmCalls(
  list: StepList,
  value: unknown,
  options: {
    readonly captured: Captured;
    readonly defaultModel: string | undefined;
    readonly note: Note;
  },
): void {
  const { captured, note } = options;
  const calls = listAt(value, 'llm_calls');
  let withUsage = 0;
  let withCost = 0;
  for (let i = 0; i < calls.length; i++) {
    const path = `llm_calls[${i}]`;
    const fields = objectAt(calls[i], path);
    for (const key in fields)
      if (!LLM_CALL_KEYS.has(key)) note(key, path, LLM_CALL_KEYS, fields[key]);
    const step = llmStep(list.next, fields, path);
    if (step.model === undefined && options.defaultModel !== undefined)
      step.model = options.defaultModel;
    if (step.usage !== undefined) withUsage++;
    if (step.cost !== undefined) withCost++;
    list.steps.push(step);
  }
  captured.llmCalls = 'full';
  captured.usage = captureLevel(withUsage, calls.length);
  captured.cost = captureLevel(withCost, calls.length);
}

function llmStep({ id, seq }: Numbered, fields: Fields, path: string): LlmStep {
  const step: LlmStep = { id, seq, kind: 'llm', status: 'ok' };
  const model = optionalText(fields.model, `${path}.model`);
  if (model !== undefined) step.model = model;
  const provider = optionalText(fields.provider, `${path}.provider`);
  if (provider !== undefined) step.provider = provider;
  const usage = usageOf(fields, `${path}.`);
  if (usage !== undefined) step.usage = usage;
  const usd = optionalAmount(fields.cost_usd, `${path}.cost_usd`);
  if (usd !== undefined) step.cost = { usd, source: 'reported' };
  const agent = optionalText(fields.agent, `${path}.agent`);
  if (agent !== undefined) step.agent = agent;
  const finish = finishOf(optionalText(fields.finish_reason, `${path}.finish_reason`));
  if (finish !== undefined) step.finish = finish;
  const durationMs = optionalAmount(fields.latency_ms, `${path}.latency_ms`);
  if (durationMs !== undefined) step.meta = { durationMs };
  return step;
}

/** Token counts under the simple form's names, or undefined. `prefix` is the path with its dot. */
export function usageOf(fields: Fields, prefix: string): Usage | undefined {
  const input = optionalAmount(fields.input_tokens, `${prefix}input_tokens`);
  const output = optionalAmount(fields.output_tokens, `${prefix}output_tokens`);
  const total = optionalAmount(fields.total_tokens, `${prefix}total_tokens`);
  const cacheRead = optionalAmount(fields.cached_tokens, `${prefix}cached_tokens`);
  const reasoning = optionalAmount(fields.reasoning_tokens, `${prefix}reasoning_tokens`);
  const usage: Usage = {};
  if (input !== undefined) usage.input = input;
  if (output !== undefined) usage.output = output;
  if (cacheRead !== undefined) usage.cacheRead = cacheRead;
  if (reasoning !== undefined) usage.reasoning = reasoning;
  if (total !== undefined) usage.total = total;
  return input === undefined && output === undefined && total === undefined ? undefined : usage;
}
