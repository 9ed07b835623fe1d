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
import { messageTurns, turnOfText } from '../../build/messages.ts';
import { countStarts, gapOf, splitStreams } from '../../build/streams.ts';
import { amount, fields, label, objects, pick, text } from '../../build/values.ts';
import { isEvent, isStart, joined } from './cohere-stream.ts';
import { oldInput } from './cohere-v1.ts';

const FORMAT = 'cohere';

/** Cohere on the wire: chat versions 2 and 1, generate; whole or streamed. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Cohere chat (v1, v2): responses, request/response pairs, streams',
  unit: 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  const pair = pairOf({ value });
  if (pair === undefined) return isReply(value) || isEvent(value) ? 0.96 : 0;
  if (isReply(pair.response)) return 0.96;
  return /\bcohere\.[a-z]+\/(?:v\d\/)?(?:chat|generate)\b/.test(pair.uri) ? 0.96 : 0;
}

const isReply = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length > 0 && value.every(isEvent);
  if (!isFields(value) || 'choices' in value || 'type' in value) return false;
  const isSecond =
    isFields(value.message) &&
    value.message.role === 'assistant' &&
    'finish_reason' in value &&
    'id' in value;
  const isFirst =
    typeof value.text === 'string' && ('generation_id' in value || 'response_id' in value);
  const isGenerated = Array.isArray(value.generations) && 'prompt' in value && 'id' in value;
  return isSecond || isFirst || isGenerated;
};

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (pairOf(first) !== undefined) return exchangeItems(exchangesIn(records, COHERE_WIRE), FORMAT);
  if (isEvent(first.value)) {
    const streams = splitStreams(
      records,
      countStarts(({ value }: RawRecord) => isStart(value)),
    );
    return exchangeItems(streamedReplies(streams, COHERE_WIRE), FORMAT);
  }
  return exchangeItems(wholeReplies(records, COHERE_WIRE), FORMAT);
}

export const COHERE_WIRE: Wire = {
  input: (request) =>
    Array.isArray(request.messages)
      ? objects(request.messages).flatMap(withPlan)
      : oldInput(request),
  reply: replyOf,
};

/** The model's plan is separate from its calls. */
function withPlan(message: Fields): Turn[] {
  const plan = text(message.tool_plan);
  const whole =
    message.role === 'tool' ? { ...message, content: documentsOf(message.content) } : message;
  return messageTurns(
    plan === undefined || plan === '' ? whole : { ...whole, reasoning_content: plan },
  );
}

/** Results are documents, `{type: "document", document: {data}}`. */
const documentsOf = (content: unknown): unknown =>
  Array.isArray(content)
    ? content.map((block) => {
        const data = fields(fields(block).document).data;
        return data === undefined
          ? block
          : { type: 'text', text: typeof data === 'string' ? data : JSON.stringify(data) };
      })
    : content;

function replyOf(response: unknown): Reply & { output?: Turn } {
  const stream = Array.isArray(response) ? joined(response) : undefined;
  const whole = stream?.reply ?? fields(response);
  const message = isFields(whole.message) ? whole.message : oldMessage(whole);
  const reason = pick(whole, 'finish_reason') ?? objects(whole.generations)[0]?.finish_reason;
  return {
    provider: FORMAT,
    output:
      message === undefined
        ? undefined
        : (withPlan({ ...message, role: 'assistant' })[0] ?? turnOfText('assistant', '')),
    responseId: label(pick(whole, 'id', 'response_id')),
    finish:
      typeof reason === 'string' && /^complete$/i.test(reason)
        ? ('stop' as const)
        : finishOf(reason),
    usage: usageOf(fields(whole.usage ?? whole.meta)),
    ...gapOf({
      cutOff: stream !== undefined && reason === undefined,
      damaged: stream?.isDamaged === true,
    }),
  };
}

/** Version 1 has `{text, tool_calls: [{name, parameters}]}`, and generate a list of texts. */
function oldMessage(reply: Fields): Fields | undefined {
  const said = text(reply.text) ?? text(objects(reply.generations)[0]?.text);
  if (said === undefined && !Array.isArray(reply.tool_calls)) return undefined;
  return { content: said ?? '', tool_calls: reply.tool_calls };
}

/** Used tokens, else billed ones. */
function usageOf(given: Fields): Usage | undefined {
  const counts = isFields(given.tokens) ? given.tokens : fields(given.billed_units);
  const usage: Usage = {
    input: amount(counts.input_tokens),
    output: amount(counts.output_tokens),
  };
  return hasValues(usage) ? usage : undefined;
}
