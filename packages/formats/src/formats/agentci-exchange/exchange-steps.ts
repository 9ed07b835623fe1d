import type { Failure, ToolDef } from '@agentci/trace';
import { isFields } from '@agentci/trace';
import type { RawRecord } from '../../adapter.ts';
import type { DraftEvent, DraftLlm, GapNote } from '../../build/draft.ts';
import {
  exchangesIn,
  llmStep,
  type Wire,
  type WireExchange,
  wireError,
} from '../../build/exchanges.ts';
import { mayBeModelCall } from '../../build/model-request.ts';
import { amount, fields, label } from '../../build/values.ts';
import { ANTHROPIC_WIRE } from '../anthropic-messages/anthropic-messages.ts';
import { BEDROCK_WIRE } from '../bedrock-converse/bedrock-converse.ts';
import { COHERE_WIRE } from '../cohere/cohere.ts';
import { GEMINI_WIRE } from '../gemini-generate-content/gemini-generate-content.ts';
import { OLLAMA_WIRE } from '../ollama/ollama.ts';
import { CHAT_WIRE } from '../openai-chat-completions/openai-chat-completions.ts';
import { RESPONSES_WIRE } from '../openai-responses/openai-responses.ts';
import { type ExchangeRecord, isExchange, pairRecord } from './exchange-record.ts';
import type { Caller } from './same-model.ts';
import { withThreadIds } from './thread-ids.ts';

/** Facts from the exchanges of one run. */
export interface ExchangeSteps {
  readonly llm: readonly DraftLlm[];
  readonly callers: ReadonlyMap<DraftLlm, Caller>;
  /** Calls that failed, and calls for embeddings. */
  readonly events: readonly DraftEvent[];
  readonly gaps: readonly GapNote[];
  readonly tools: readonly ToolDef[];
  /** Failure of the last call. */
  readonly error?: Failure;
  /** The last call could not be read, so that the words before it are not the answer. */
  readonly endsUnread: boolean;
  readonly embeddings: { readonly calls: number; readonly tokens: number };
  /** Every reply reports whether a tool failed. */
  readonly tellsErrors: boolean;
  /** Every request was answered from a recording, and the steps are in its order. */
  readonly isReplayed: boolean;
}

export type PairOf = typeof pairRecord;

/** As measured on the wire. */
type Times = Pick<DraftLlm, 'sequence' | 't0' | 't1' | 'timing' | 'ttftMs' | 'isRequest'>;

const WIRES: Readonly<Record<string, Wire>> = {
  chat: CHAT_WIRE,
  responses: RESPONSES_WIRE,
  messages: ANTHROPIC_WIRE,
  generate: GEMINI_WIRE,
  converse: BEDROCK_WIRE,
  ollama: OLLAMA_WIRE,
  cohere: COHERE_WIRE,
};

/** Reads every exchange in its own format. Those that are not calls of models are passed over. */
export function stepsOfExchanges(
  records: readonly RawRecord[],
  pairOf: PairOf = pairRecord,
): ExchangeSteps {
  const wires: (WireExchange & Times)[] = [];
  const asked: Caller[] = [];
  const events: DraftEvent[] = [];
  const gaps: GapNote[] = [];
  const tools = new Map<string, ToolDef>();
  const embeddings = { calls: 0, tokens: 0 };
  let error: Failure | undefined;
  let tellsErrors = true;
  let endsUnread = false;
  let before = 0;
  const found = records.flatMap((record) =>
    isExchange(record.value) ? [{ record, exchange: record.value }] : [],
  );
  // They are counted from 1 when they are captured.
  for (const i of found.map(({ exchange }) => exchange.i).sort((a, b) => a - b)) {
    if (i > before + 1) gaps.push({ gap: 'absentChildren', detail: `exchange ${before + 1}` });
    before = i;
  }
  const recorded = found.flatMap(({ exchange }) => exchange.recorded_i ?? []);
  const isReplayed = found.length > 0 && new Set(recorded).size === found.length;
  const placeOf = ({ i, recorded_i: was = i }: ExchangeRecord): number => (isReplayed ? was : i);
  found.sort((a, b) => placeOf(a.exchange) - placeOf(b.exchange));
  for (const [sequence, { record, exchange }] of found.entries()) {
    const { at, end_ms: endMs, route } = exchange;
    const pair = pairOf(record);
    const wire = wireOf(exchange, pair.value);
    const times = { sequence, t0: at, t1: at + endMs, timing: 'measured' as const };
    if (wire === undefined) {
      if (route === 'embeddings') {
        embeddings.calls++;
        embeddings.tokens += tokensOf(pair.value.response);
        events.push({
          kind: 'event',
          name: 'embedding',
          status: isOk(exchange) ? 'ok' : 'error',
          ...times,
        });
      } else if (route !== 'other' || mayBeModelCall(pair.value)) {
        endsUnread = true;
        gaps.push({
          gap: 'unread',
          detail: `${exchange.method} ${exchange.uri.split('?')[0]!.slice(0, 120)}`,
        });
      }
      continue;
    }
    if (exchange.why === 'too_large') gaps.push({ gap: 'notKept' });
    else if (exchange.why !== undefined || (!exchange.complete && exchange.response !== undefined))
      gaps.push({ gap: 'brokenOff', detail: exchange.why });
    const failure = failureOf(exchange, pair.value);
    error = failure;
    if (failure !== undefined) {
      const data = {
        provider: exchange.provider,
        model: label(fields(pair.value.request).model),
      };
      events.push({
        kind: 'event',
        name: 'llm.failed',
        status: 'error',
        error: failure,
        data,
        ...times,
      });
      continue;
    }
    const [read] = exchangesIn([pair], wire);
    endsUnread = read === undefined;
    if (read === undefined) {
      gaps.push({ gap: 'unread', detail: `${exchange.method} ${exchange.uri.slice(0, 120)}` });
      continue;
    }
    if (route !== 'messages') tellsErrors = false;
    for (const tool of read.tools ?? []) tools.set(tool.name, tool);
    asked.push({
      provider: exchange.provider,
      model: askedModel(exchange, pair.value),
    });
    const ttftMs = amount(exchange.ttfb_ms);
    wires.push({
      ...withoutRunningCounts(read),
      ...times,
      ttftMs,
      isRequest: true,
    });
  }
  const llm = withThreadIds(wires).map(llmStep);
  const callers = new Map(llm.map((step, i) => [step, asked[i]!]));
  return {
    llm,
    callers,
    events,
    gaps,
    tools: [...tools.values()],
    embeddings,
    tellsErrors,
    endsUnread,
    isReplayed,
    error,
  };
}

/** The model that a request names in its body, else in its path. */
const askedModel = (
  { uri }: ExchangeRecord,
  { request }: Readonly<Record<string, unknown>>,
): string | undefined =>
  label(fields(request).model) ?? /\/(?:models?|deployments)\/([^/:?]+)/.exec(uri)?.[1];

/** A stream that ended early has counted its output so far at best. */
function withoutRunningCounts(exchange: WireExchange): WireExchange {
  if (exchange.gap !== 'cutOff' || exchange.usage === undefined) return exchange;
  const { output: _, total: __, reasoning: ___, ...usage } = exchange.usage;
  return { ...exchange, usage };
}

/** The wire format of the route's provider. Models invoked through Bedrock use their own. */
function wireOf({ route, uri }: ExchangeRecord, pair: RawRecord['value']): Wire | undefined {
  const { request, response } = fields(pair);
  if (route === 'invoke') {
    const isAnthropic = 'anthropic_version' in fields(request);
    return isAnthropic || isAnthropicReply(response) ? withModelOf(uri) : BEDROCK_WIRE;
  }
  return Object.hasOwn(WIRES, route) ? WIRES[route] : undefined;
}

const isAnthropicReply = (response: unknown): boolean =>
  Array.isArray(response)
    ? response.some((event) => fields(event).type === 'message_start')
    : fields(response).type === 'message';

/** The model is in the path there, not in the body. */
const withModelOf = (uri: string): Wire => ({
  ...ANTHROPIC_WIRE,
  asked: (pair) => BEDROCK_WIRE.asked!({ ...pair, uri }),
});

const isOk = ({ response }: ExchangeRecord): boolean =>
  response !== undefined && response.status < 400;

/** A call that gave no reply of a model, because nothing came or because an error did. */
function failureOf(
  exchange: ExchangeRecord,
  pair: Readonly<Record<string, unknown>>,
): Failure | undefined {
  const { response, error } = exchange;
  if (response === undefined)
    return { message: error ?? 'the request was given up before there was a reply' };
  const said = wireError(pair.response, response.status);
  return said !== undefined && (response.status >= 400 || isFields(fields(pair.response).error))
    ? said
    : undefined;
}

function tokensOf(response: unknown): number {
  const { usage, usageMetadata, prompt_eval_count: counted } = fields(response);
  return (
    amount(fields(usage).total_tokens) ??
    amount(fields(usage).prompt_tokens) ??
    amount(fields(usageMetadata).promptTokenCount) ??
    amount(counted) ??
    0
  );
}
