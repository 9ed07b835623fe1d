import { hasValues } from '@agentci/lib/data';
import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import type { Reply } from '../../build/conversation.ts';
import type { Turn } from '../../build/draft.ts';
import {
  exchangeItems,
  exchangesIn,
  pairOf,
  streamedReplies,
  type Wire,
  wholeReplies,
} from '../../build/exchanges.ts';
import { finishOf } from '../../build/finish.ts';
import { best } from '../../build/likeness.ts';
import { messageTurns, toolDefs, turnOfText, turnsOf } from '../../build/messages.ts';
import { gapOf, splitStreams } from '../../build/streams.ts';
import { anthropicUsage } from '../../build/token-usage.ts';
import { amount, fields, label, objects, pick, text } from '../../build/values.ts';
import { merged } from '../../otel/messages.ts';
import { eventName, isConverseEvent, joined } from './converse-stream.ts';

const FORMAT = 'bedrock-converse';

/**
 * Bedrock on the wire: Converse and ConverseStream, InvokeModel for models with the same format
 * (Nova) or plain text (Titan, Llama, Mistral), and model invocation logs.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Bedrock Converse: responses, request/response pairs, streams, invocation logs',
  unit: 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

const CONVERSE = /\/model\/[^/]+\/converse(?:-stream)?(?:[/?]|$)/;
const INVOKE = /\/model\/[^/]+\/invoke(?:-with-response-stream)?(?:[/?]|$)/;

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  if (isLogged(value)) return 0.97;
  const pair = pairOf({ value });
  if (pair !== undefined) {
    if (CONVERSE.test(pair.uri) || isReply(pair.response)) return 0.96;
    return INVOKE.test(pair.uri) && (isPlain(pair.response) || (pair.status ?? 0) >= 400)
      ? 0.95
      : 0;
  }
  return isReply(value) || isConverseEvent(value) ? 0.96 : 0;
}

/** `{output: {message: {role, content}}, stopReason}`, or its events. */
const isReply = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 &&
      value.every((event) => isConverseEvent(event) || eventName(event) === 'cutOff')
    : isFields(value) &&
      isFields(value.output) &&
      isFields(value.output.message) &&
      Array.isArray(value.output.message.content) &&
      ('stopReason' in value || 'usage' in value);

/** Replies of text-only models. A stream of them is a list. */
const isPlain = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every(isPlain)
    : isFields(value) && wordsOf(value) !== undefined;

function wordsOf(reply: Fields): string | undefined {
  const [first] = [
    ...objects(reply.results),
    ...objects(reply.outputs),
    ...objects(reply.completions),
  ];
  return text(
    pick(reply, 'outputText', 'generation', 'completion') ??
      pick(first ?? {}, 'outputText', 'text') ??
      fields(first?.data).text,
  );
}

/** A record of model invocation logging. */
const isLogged = (value: Fields): boolean =>
  value.schemaType === 'ModelInvocationLog' && isFields(value.input);

/** Converts a log record to a request with its reply. */
function asPair(record: RawRecord): RawRecord {
  const { value } = record;
  if (!isFields(value) || !isLogged(value)) return record;
  const { modelId, operation, input, output } = value;
  const uri = `/model/${encodeURIComponent(label(modelId) ?? '')}/${label(operation) ?? ''}`;
  return {
    ...record,
    value: {
      uri,
      request: fields(fields(input).inputBodyJson),
      response: fields(output).outputBodyJson ?? null,
    },
  };
}

function read(given: readonly RawRecord[]): AdapterItem[] {
  const records = given.map(asPair);
  const [first] = records;
  if (first === undefined) return [];
  if (pairOf(first) !== undefined) return exchangeItems(exchangesIn(records, BEDROCK_WIRE), FORMAT);
  if (isConverseEvent(first.value))
    return exchangeItems(streamedReplies(splitStreams(records, pieceKey()), BEDROCK_WIRE), FORMAT);
  return exchangeItems(wholeReplies(records, BEDROCK_WIRE), FORMAT);
}

/** A reply continues until its stop event, followed by usage. Some start without a start event. */
function pieceKey(): (record: RawRecord) => string {
  let count = 0;
  let isOver = true;
  return ({ value }) => {
    const name = eventName(value);
    if (name === 'messageStart' || (isOver && name !== 'metadata')) {
      count++;
      isOver = false;
    }
    if (name === 'messageStop') isOver = true;
    return String(count);
  };
}

export const BEDROCK_WIRE: Wire = {
  input: (request) => [...systemOf(request), ...askedOf(request)],
  asked: ({ uri, request }) => ({
    model: modelIn(uri),
    tools: toolDefs(fields(request.toolConfig).tools ?? request.tools),
  }),
  reply: replyOf,
};

function askedOf(request: Fields): Turn[] {
  if (Array.isArray(request.messages))
    return objects(request.messages).flatMap((message) => messageTurns(unguarded(message)));
  return turnsOf(text(pick(request, 'prompt', 'inputText')) ?? []);
}

/** Unwraps text marked for a guardrail. */
function unguarded(message: Fields): Fields {
  if (!Array.isArray(message.content)) return message;
  const content = message.content.map((block) => {
    const words = fields(fields(fields(block).guardContent).text).text;
    return typeof words === 'string' ? { text: words } : block;
  });
  return { ...message, content };
}

function systemOf({ system }: Fields): Turn[] {
  const words =
    typeof system === 'string'
      ? [system]
      : objects(system).flatMap((block) => text(block.text) ?? []);
  return words.length === 0
    ? []
    : [{ role: 'system', parts: words.map((said) => ({ type: 'text', text: said })) }];
}

function modelIn(uri: string): string | undefined {
  const [, id] = /\/model\/([^/?]+)\//.exec(uri) ?? [];
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    return id;
  }
}

function replyOf(response: unknown): Reply & { output?: Turn } {
  if (isPlain(response))
    return plainReply(Array.isArray(response) ? response.filter(isFields) : [fields(response)]);
  const stream = Array.isArray(response) ? joined(response) : undefined;
  const whole = stream ?? wholeOf(fields(response));
  return {
    provider: 'aws.bedrock',
    output:
      whole.content === undefined
        ? undefined
        : (merged(messageTurns({ role: 'assistant', content: whole.content })) ??
          turnOfText('assistant', '')),
    usage: usageOf(whole.usage),
    finish: finishOf(whole.stopReason),
    ...gapOf({
      damaged: stream?.isDamaged === true,
      cutOff: stream !== undefined && stream.stopReason === undefined,
    }),
  };
}

/** Converse's own shape, or that of an Anthropic model in the records of logging. */
function wholeOf(response: Fields): { content?: unknown; stopReason: unknown; usage: unknown } {
  const { content } = fields(fields(response.output).message);
  return {
    content: content ?? (Array.isArray(response.content) ? response.content : undefined),
    stopReason: pick(response, 'stopReason', 'stop_reason'),
    usage: response.usage,
  };
}

function plainReply(pieces: readonly Fields[]): Reply & { output?: Turn } {
  const said = pieces.map((piece) => wordsOf(piece) ?? '').join('');
  const last = pieces.at(-1) ?? {};
  const reason = pick(
    objects(last.results ?? last.outputs)[0] ?? last,
    'completionReason',
    'stop_reason',
    'finishReason',
  );
  const usage: Usage = {
    input: amount(pick(last, 'prompt_token_count', 'inputTextTokenCount')),
    output: amount(pick(objects(last.results)[0] ?? last, 'generation_token_count', 'tokenCount')),
  };
  return {
    provider: 'aws.bedrock',
    output: turnOfText('assistant', said),
    finish: finishOf(reason === 'FINISH' ? 'stop' : reason),
    usage: hasValues(usage) ? usage : undefined,
    ...gapOf({ cutOff: pieces.length > 1 && reason === undefined }),
  };
}

/** The cache is counted apart from the input. */
function usageOf(value: unknown): Usage | undefined {
  const usage = fields(value);
  const cache_write_input_tokens = pick(
    usage,
    'cacheWriteInputTokens',
    'cacheWriteInputTokenCount',
    'cache_write_input_tokens',
  );
  return anthropicUsage({ ...usage, cache_write_input_tokens });
}
