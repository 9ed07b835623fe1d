import { type Fields, isFields } from '../../../trace/fields.ts';
import type { Adapter } from '../../adapter.ts';
import type { Reply } from '../../build/conversation.ts';
import { defined } from '../../build/defined.ts';
import type { Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns, turnOfText, turnsOf } from '../../build/messages.ts';
import { gapOf } from '../../build/streams.ts';
import { amount, fields, label, objects, text, time } from '../../build/values.ts';
import { wireAdapter } from '../../build/wire-adapter.ts';
import { merged } from '../../otel/messages.ts';

const NANOSECONDS = 1e6;

const isPiece = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.done === 'boolean' &&
  typeof value.model === 'string' &&
  (isFields(value.message) || typeof value.response === 'string');

/** Ollama's own API: `/api/chat` and `/api/generate`. A stream is JSON lines, the last of which says `done`. */
export const adapter: Adapter = wireAdapter({
  format: 'ollama',
  summary: 'Ollama: /api/chat and /api/generate, replies, request/response pairs, streams',
  path: /\/api\/(?:chat|generate)\b/,
  isReply: (value) => isPiece(value) && value.done === true && 'eval_count' in value && !isLastPiece(value),
  isChunk: (value) => isPiece(value) && (value.done === false || isLastPiece(value)),
  startsStream: (_, before) => fields(before).done === true,
  wire: { input: inputOf, reply: replyOf },
});

/** The end of a stream has no words of its own: only the counts. A whole reply has both. */
function isLastPiece(value: Fields): boolean {
  const message = fields(value.message);
  return (
    value.done === true &&
    objects(message.tool_calls).length === 0 &&
    (text(message.content ?? value.response) ?? '') === ''
  );
}

function inputOf(request: Fields): readonly Turn[] {
  if (Array.isArray(request.messages)) return turnsOf(request.messages);
  const system = text(request.system);
  const prompt = text(request.prompt);
  return [
    ...(system === undefined || system === '' ? [] : [turnOfText('system', system)]),
    ...(prompt === undefined ? [] : [turnOfText('user', prompt)]),
  ];
}

function replyOf(response: unknown): Reply & { output?: Turn } {
  const pieces = (Array.isArray(response) ? response : [response]).map(fields);
  const last = pieces.at(-1) ?? {};
  const content = pieces.map((piece) => text(fields(piece.message).content ?? piece.response) ?? '').join('');
  const calls = pieces.flatMap((piece) => objects(fields(piece.message).tool_calls));
  const t0 = time(pieces[0]?.created_at);
  const took = amount(last.total_duration);
  const isDone = last.done === true;
  return defined({
    output: merged(messageTurns({ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) })),
    model: label(last.model),
    usage: usageOf(last),
    // Ollama says "stop" after asking for tools too.
    finish: calls.length > 0 && isDone ? ('tool_calls' as const) : finishOf(last.done_reason),
    ...gapOf({ cutOff: !isDone }),
    t0,
    ...(t0 !== undefined && took !== undefined ? { t1: t0 + took / NANOSECONDS } : {}),
  });
}

function usageOf({ prompt_eval_count, eval_count }: Fields) {
  const input = amount(prompt_eval_count);
  const output = amount(eval_count);
  return input === undefined && output === undefined ? undefined : defined({ input, output });
}
