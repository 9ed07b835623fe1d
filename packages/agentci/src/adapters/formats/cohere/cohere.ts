import { type Fields, isFields } from '../../../trace/fields.ts';
import type { Adapter } from '../../adapter.ts';
import type { Reply } from '../../build/conversation.ts';
import { defined } from '../../build/defined.ts';
import type { Call, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns, turnOfText, turnsOf } from '../../build/messages.ts';
import { gapOf } from '../../build/streams.ts';
import { amount, argumentsOf, fields, label, objects, text } from '../../build/values.ts';
import { wireAdapter } from '../../build/wire-adapter.ts';
import { merged } from '../../otel/messages.ts';
import { joinStream } from './cohere-stream.ts';

const V2_EVENT =
  /^(?:message-(?:start|end)|content-(?:start|delta|end)|tool-plan-delta|tool-call-(?:start|delta|end)|citation-(?:start|end))$/;
const V1_EVENT =
  /^(?:stream-(?:start|end)|text-generation|tool-calls-(?:generation|chunk)|search-\w+|citation-generation)$/;

const isEvent = (value: unknown): value is Fields =>
  isFields(value) &&
  ((typeof value.type === 'string' && V2_EVENT.test(value.type) && ('delta' in value || value.type.endsWith('-end'))) ||
    (typeof value.event_type === 'string' && V1_EVENT.test(value.event_type)));

/** Version 2 wraps the message; version 1 has its text and its calls at the top. */
const isReply = (value: unknown): boolean =>
  isFields(value) &&
  ((isFields(value.message) && 'finish_reason' in value && !('model' in value) && !('done' in value)) ||
    (typeof value.generation_id === 'string' && typeof value.text === 'string'));

/** Cohere's chat, versions 1 and 2. */
export const adapter: Adapter = wireAdapter({
  format: 'cohere',
  summary: 'Cohere chat (v1 and v2): replies, request/response pairs, streams',
  path: /cohere\.[^/]+\/v[12]\/chat\b/,
  isReply,
  isChunk: isEvent,
  startsStream: (piece) => fields(piece).type === 'message-start' || fields(piece).event_type === 'stream-start',
  wire: { input: inputOf, reply: replyOf },
});

function inputOf(request: Fields): readonly Turn[] {
  if (Array.isArray(request.messages)) return turnsOf(request.messages);
  const said = text(request.message);
  return [
    ...objects(request.chat_history).flatMap(oldTurn),
    ...(said === undefined || said === '' ? [] : [turnOfText('user', said)]),
    ...objects(request.tool_results).map(oldResult),
  ];
}

/** A turn of version 1: `USER`, `CHATBOT`, `SYSTEM` or `TOOL`. */
function oldTurn(turn: Fields): Turn[] {
  if (turn.role === 'TOOL') return objects(turn.tool_results).map(oldResult);
  const role = turn.role === 'CHATBOT' ? 'assistant' : turn.role === 'SYSTEM' ? 'system' : 'user';
  const calls = objects(turn.tool_calls).map(oldCall);
  return [{ ...turnOfText(role, text(turn.message) ?? ''), ...(calls.length === 0 ? {} : { calls }) }];
}

const oldCall = (call: Fields): Call => ({ name: label(call.name) ?? '', ...argumentsOf(call.parameters) });

/** Version 1 has no ids: the result repeats its call, and the calls are joined in order. */
const oldResult = (result: Fields): Turn => ({
  role: 'tool',
  parts: [],
  result: result.outputs,
  ...defined({ name: label(fields(result.call).name) }),
});

function replyOf(response: unknown): Reply & { output?: Turn } {
  const { reply, isCutOff } = Array.isArray(response)
    ? joinStream(response.map(fields))
    : { reply: fields(response), isCutOff: false };
  const message = fields(reply.message);
  const output = isFields(reply.message)
    ? merged(messageTurns({ ...message, role: 'assistant' }))
    : oldTurn({ role: 'CHATBOT', message: reply.text, tool_calls: reply.tool_calls })[0];
  const hasCalls = (output?.calls ?? []).length > 0;
  return defined({
    output,
    responseId: label(reply.id) ?? label(reply.response_id),
    usage: usageOf(reply),
    finish: hasCalls && reply.finish_reason === 'COMPLETE' ? ('tool_calls' as const) : finishOf(reply.finish_reason),
    ...gapOf({ cutOff: isCutOff }),
  });
}

/** What the model read and wrote; what is billed is less where parts are free. */
function usageOf(reply: Fields) {
  const { tokens, billed_units } = fields(reply.usage ?? reply.meta);
  const counted = isFields(tokens) ? tokens : fields(billed_units);
  const input = amount(counted.input_tokens);
  const output = amount(counted.output_tokens);
  return input === undefined && output === undefined ? undefined : defined({ input, output });
}
