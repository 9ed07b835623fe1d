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
} from '../../build/exchanges.ts';
import { finishOf } from '../../build/finish.ts';
import { best } from '../../build/likeness.ts';
import { messageTurns, turnOfText, turnsOf } from '../../build/messages.ts';
import { gapOf, splitStreams } from '../../build/streams.ts';
import { amount, fields, label, objects, text } from '../../build/values.ts';

const FORMAT = 'ollama';

/** Ollama on the wire: chat and generate, whole or streamed line by line. Calls have no ids and are paired in order. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Ollama: responses of /api/chat and /api/generate, request/response pairs, streams',
  unit: 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  const pair = pairOf({ value });
  if (pair === undefined) return isPiece(value) ? 0.96 : 0;
  if (isReply(pair.response)) return 0.96;
  return /\/api\/(?:chat|generate)(?:[?#]|$)/.test(pair.uri) && 'model' in pair.request ? 0.95 : 0;
}

const isReply = (response: unknown): boolean =>
  Array.isArray(response) ? response.length > 0 && response.every(isPiece) : isPiece(response);

/** `{model, created_at, message | response, done}`: a whole reply or a piece. */
const isPiece = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.model === 'string' &&
  typeof value.done === 'boolean' &&
  'created_at' in value &&
  (isFields(value.message) || typeof value.response === 'string');

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (pairOf(first) !== undefined) return exchangeItems(exchangesIn(records, OLLAMA_WIRE), FORMAT);
  return exchangeItems(streamedReplies(splitStreams(records, pieceKey()), OLLAMA_WIRE), FORMAT);
}

/** A reply continues until it is done. */
function pieceKey(): (record: RawRecord) => string {
  let count = 0;
  let isDone = true;
  return ({ value }) => {
    if (isDone) count++;
    isDone = fields(value).done === true;
    return String(count);
  };
}

export const OLLAMA_WIRE: Wire = {
  input: (request) =>
    Array.isArray(request.messages)
      ? objects(request.messages).flatMap(messageTurns)
      : [...systemOf(request), ...turnsOf(text(request.prompt) ?? [])],
  reply: replyOf,
};

const systemOf = ({ system }: Fields): Turn[] =>
  typeof system === 'string' && system !== '' ? [turnOfText('system', system)] : [];

function replyOf(response: unknown): Reply & { output?: Turn } {
  const pieces = (Array.isArray(response) ? response : [response]).filter(isFields);
  if (!pieces.some(isPiece)) return { provider: FORMAT };
  const last = pieces.findLast(({ done }) => done === true);
  const messages = pieces.map(({ message }) => fields(message));
  const said = pieces
    .map(({ message, response: words }) => text(isFields(message) ? message.content : words) ?? '')
    .join('');
  const thought = messages.map(({ thinking }) => text(thinking) ?? '').join('');
  const [turn] = messageTurns({
    role: 'assistant',
    content: said,
    tool_calls: messages.flatMap(({ tool_calls }) => objects(tool_calls)),
    reasoning_content: thought !== '' ? thought : undefined,
  });
  const [input, output] = [amount(last?.prompt_eval_count), amount(last?.eval_count)];
  const hasCalls = (turn?.calls ?? []).length > 0;
  return {
    provider: FORMAT,
    model: label(pieces[0]?.model),
    output: turn,
    // A reply with calls ends with "stop" as well.
    finish: hasCalls ? undefined : finishOf(last?.done_reason),
    usage: input === undefined && output === undefined ? undefined : { input, output },
    ...gapOf({ cutOff: last === undefined }),
  };
}
