import {
  captureLevel,
  isFields,
  nothingCaptured,
  type Part,
  placeId,
  StepList,
  type ToolDef,
  type ToolStep,
  TRACE_SCHEMA,
  type Trace,
  TraceError,
} from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { problemWith } from '../../problem.ts';
import { isAuditLine, readAuditLog } from './audit.ts';
import { isMessage, type McpMessage, messagesOf } from './mcp-messages.ts';

/** Transcripts of the Model Context Protocol: JSON-RPC messages, bare or in the envelope of a tap, transport or Inspector. */
export const adapter: Adapter = {
  format: 'mcp',
  summary: 'MCP transcripts: JSON-RPC messages, taps, transport envelopes and Inspector logs',
  unit: 'file',
  detect: (sample) => (sample.length === 0 ? 0 : Math.min(...sample.map(likeness))),
  read: readTranscript,
};

const METHODS =
  /^(?:initialize|ping|tools\/|resources\/|prompts\/|completion\/|logging\/|notifications\/|sampling\/|roots\/|elicitation\/|server\/|tasks\/)/;
/** Protocols that speak JSON-RPC too: ACP and A2A. */
const FOREIGN = /^(?:session\/|message\/|fs\/|terminal\/|Send|Get|Cancel|Subscribe)/;

/** A line of a tap in place of a message that was too large or not JSON. */
const isDropped = (value: unknown): boolean =>
  isFields(value) && isFields(value.dropped) && (value.dir === 'c2s' || value.dir === 's2c');

const isMaskedLine = (
  value: unknown,
): value is { readonly dir: unknown; readonly masked: readonly string[] } =>
  isFields(value) &&
  Array.isArray(value.masked) &&
  value.masked.every((name) => typeof name === 'string');

function likeness(value: unknown): number {
  if (isDropped(value) || isAuditLine(value)) return 0.95;
  let known = 0;
  let seen = 0;
  for (const { message } of messagesOf({ value })) {
    const { method } = message;
    if (typeof method === 'string' && FOREIGN.test(method)) return 0;
    if (typeof method !== 'string' || METHODS.test(method)) known++;
    if (++seen >= 20) break;
  }
  if (known === 0) return 0;
  if (known === seen) return isMessage(value) ? 0.9 : 0.95;
  return 0.3;
}

interface Call {
  readonly step: Omit<ToolStep, 'id' | 'seq'>;
  readonly record: RawRecord;
}

function readTranscript(records: readonly RawRecord[]): readonly AdapterItem[] {
  if (records.length > 0 && records.every(({ value }) => isAuditLine(value)))
    return readAuditLog(records);
  try {
    return [{ ok: true, trace: new Transcript(records).trace() }];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [problemWith(error.record, error)];
  }
}

/** The calls of a transcript with their outcomes. Undefined if it violates the protocol. */
export function readCalls(
  records: readonly RawRecord[],
): readonly Omit<ToolStep, 'id' | 'seq'>[] | undefined {
  try {
    return new Transcript(records).calls();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return undefined;
  }
}

/** A transcript that contradicts the protocol: no guess is made about which answer belongs to which call. */
class Refusal extends TraceError {
  readonly record: RawRecord;

  constructor(record: RawRecord, code: string, message: string) {
    super({ code, message, path: '' });
    this.record = record;
  }
}

class Transcript {
  readonly #messages: readonly McpMessage[];
  readonly #first: RawRecord;
  readonly #calls: Call[] = [];
  /** Calls without an answer yet, by typed id. */
  readonly #open = new Map<string, Call>();
  /** Calls that wait for input from the user: a later request continues them. */
  readonly #waiting: Call[] = [];
  readonly #listings = new Set<string>();
  readonly #hellos = new Set<string>();
  /** Requests of other methods, such as ping. */
  readonly #others = new Set<string>();
  readonly #tools = new Map<string, ToolDef>();
  #server: string | undefined;
  #orphans = 0;
  /** Those of them that look like the result of a tool. */
  #results = 0;
  /** Messages that a tap could not keep. */
  readonly #dropped: number;
  /** Names of values that a tap redacted. */
  readonly #masked: readonly string[];
  readonly #hasMaskedAnswers: boolean;

  constructor(records: readonly RawRecord[]) {
    this.#first = records[0] ?? { value: undefined };
    this.#dropped = records.filter(({ value }) => isDropped(value)).length;
    const masked = records.map(({ value }) => value).filter(isMaskedLine);
    this.#masked = [...new Set(masked.flatMap((line) => line.masked))].sort();
    this.#hasMaskedAnswers = masked.some(({ dir }) => dir === 's2c');
    this.#messages = inOrder(records.flatMap((record) => [...messagesOf(record)]));
  }

  calls(): readonly Call['step'][] {
    for (const message of this.#messages) this.#read(message);
    for (const { step } of this.#open.values()) {
      step.status = 'error';
      step.error = { type: 'timeout', message: 'timeout/no_response' };
    }
    return this.#calls.map(({ step }) => step);
  }

  trace(): Trace {
    if (this.calls().length === 0)
      throw new Refusal(
        this.#first,
        'TRACE_NO_RECORDINGS',
        'the transcript has no tools/call request',
      );
    return this.#build();
  }

  #read(found: McpMessage): void {
    const { message } = found;
    const key = idKey(message.id);
    if (typeof message.method === 'string') {
      if (message.method === 'tools/call') this.#request(found);
      else if (message.method === 'tools/list' && key !== undefined) this.#listings.add(key);
      else if (message.method === 'initialize' && key !== undefined) this.#hellos.add(key);
      else if (key !== undefined) this.#others.add(key);
      return;
    }
    if (key === undefined) {
      this.#orphan(message);
      return;
    }
    const call = this.#open.get(key);
    if (call !== undefined) {
      this.#open.delete(key);
      this.#answer(call, found);
    } else if (this.#listings.delete(key)) this.#listTools(message.result);
    else if (this.#hellos.delete(key)) this.#hello(message.result);
    // A response with a tool result answers a tool call, whatever its method.
    else if (!this.#others.delete(key) || isToolResult(message.result)) this.#orphan(message);
  }

  #orphan({ result }: McpMessage['message']): void {
    this.#orphans++;
    if (isToolResult(result)) this.#results++;
  }

  #request({ message, at, record }: McpMessage): void {
    const params = isFields(message.params) ? message.params : {};
    const key = idKey(message.id);
    if (key === undefined)
      throw new Refusal(
        record,
        'TRACE_BAD_FIELD',
        'the id of a tools/call request must be a string or a number',
      );
    if (this.#open.has(key))
      throw new Refusal(
        record,
        'TRACE_BAD_FIELD',
        `two calls wait for an answer with the id ${JSON.stringify(message.id)}`,
      );
    if (typeof params.name !== 'string' || params.name === '')
      throw new Refusal(record, 'TRACE_BAD_FIELD', 'a tools/call request has no tool name');
    const continued =
      'inputResponses' in params || 'requestState' in params
        ? this.#continued(params.name)
        : undefined;
    if (continued !== undefined) {
      this.#open.set(key, continued);
      return;
    }
    const step: Call['step'] = {
      kind: 'tool',
      name: params.name,
      callId: String(message.id),
      // Arguments may be left out of a request: that is a call without arguments.
      args: params.arguments ?? {},
      status: 'unknown',
      by: 'mcp',
      evidence: ['mcp'],
      t0: at,
    };
    const call = { step, record };
    this.#calls.push(call);
    this.#open.set(key, call);
  }

  #continued(name: string): Call | undefined {
    const index = this.#waiting.findIndex(({ step }) => step.name === name);
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  #answer(call: Call, { message, at }: McpMessage): void {
    const { step } = call;
    if (at !== undefined) step.t1 = at;
    if (isFields(message.error)) {
      const { code, message: why } = message.error;
      step.status = 'error';
      step.error = {
        code: typeof code === 'number' || typeof code === 'string' ? code : undefined,
        message: typeof why === 'string' ? why : undefined,
      };
      return;
    }
    const { result } = message;
    if (isFields(result) && result.resultType === 'input_required') {
      step.status = 'pending';
      this.#waiting.push(call);
      return;
    }
    const parts =
      isFields(result) && Array.isArray(result.content) ? partsOf(result.content) : undefined;
    const text = parts?.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    const isText =
      parts !== undefined && parts.length > 0 && parts.every(({ type }) => type === 'text');
    if (parts !== undefined && parts.length > 0) step.resultParts = parts;
    step.result =
      (isFields(result) ? result.structuredContent : undefined) ?? (isText ? text : result) ?? null;
    step.status = isFields(result) && result.isError === true ? 'error' : 'ok';
    if (step.status === 'error') step.error = isText && text !== undefined ? { message: text } : {};
  }

  #listTools(result: unknown): void {
    if (!isFields(result) || !Array.isArray(result.tools)) return;
    for (const tool of result.tools.slice(0, 1000)) {
      if (!isFields(tool) || typeof tool.name !== 'string') continue;
      this.#tools.set(tool.name, {
        name: tool.name,
        description: typeof tool.description === 'string' ? tool.description : undefined,
        schema: isFields(tool.inputSchema) ? tool.inputSchema : undefined,
      });
    }
  }

  #hello(result: unknown): void {
    if (
      isFields(result) &&
      isFields(result.serverInfo) &&
      typeof result.serverInfo.name === 'string'
    )
      this.#server = result.serverInfo.name;
  }

  #build(): Trace {
    const list = new StepList();
    const captured = nothingCaptured();
    const { file, line } = this.#first;
    for (const { step } of this.#calls)
      list.add(this.#server === undefined ? step : { ...step, server: this.#server });
    const steps = this.#calls.map(({ step }) => step);
    // A response without its request answers an unknown one; tool results have content.
    captured.toolCalls = this.#results + this.#dropped > 0 ? 'partial' : 'full';
    captured.toolArgs = 'full';
    captured.toolErrors = 'full';
    captured.toolResults = captureLevel(
      steps.filter(({ result }) => result !== undefined).length,
      steps.length,
    );
    // The redacted value may be the one that a check looks for.
    if (this.#hasMaskedAnswers && captured.toolResults === 'full') captured.toolResults = 'partial';
    if (steps.some(({ t0 }) => t0 !== undefined)) captured.timing = 'partial';
    const times = steps.flatMap(({ t0, t1 }) => [t0, t1]).filter((time) => time !== undefined);
    return {
      schema: TRACE_SCHEMA,
      id: file === undefined ? placeId({}) : file,
      source: {
        format: 'mcp',
        file,
        line,
      },
      status: 'unknown',
      agents: [],
      steps: list.steps,
      masked: this.#masked.length !== 0 ? [...this.#masked] : undefined,
      tools: this.#tools.size !== 0 ? [...this.#tools.values()] : undefined,
      startedAt: times.length === 0 ? undefined : Math.min(...times),
      endedAt: times.length === 0 ? undefined : Math.max(...times),
      meta: this.#orphans === 0 ? {} : { orphan_responses: this.#orphans },
      captured,
      warnings:
        this.#orphans === 0
          ? []
          : [
              {
                code: 'MCP_ORPHAN_RESPONSE',
                message: `${this.#orphans} responses belong to no request of the transcript, ${this.#results} of them with the result of a tool`,
              },
            ],
    };
  }
}

const isToolResult = (result: unknown): boolean =>
  isFields(result) && (Array.isArray(result.content) || 'structuredContent' in result);

/** By time if every message has one, else as written. Equal times keep file order. */
function inOrder(messages: readonly McpMessage[]): readonly McpMessage[] {
  if (!messages.every(({ at }) => at !== undefined)) return messages;
  return messages.toSorted((a, b) => a.at! - b.at!);
}

/** 1 and "1" are different ids. Null, a missing id and anything else are not ids. */
function idKey(id: unknown): string | undefined {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
    ? `${typeof id} ${id}`
    : undefined;
}

function partsOf(content: readonly unknown[]): Part[] {
  return content.map((item): Part => {
    if (isFields(item) && item.type === 'text' && typeof item.text === 'string')
      return { type: 'text', text: item.text };
    return { type: 'json', data: item };
  });
}
