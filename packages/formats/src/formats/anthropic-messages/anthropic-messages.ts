import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { conversation, type Reply } from '../../build/conversation.ts';
import type { Draft, Turn } from '../../build/draft.ts';
import { pairOf, type Wire } from '../../build/exchanges.ts';
import { finishOf } from '../../build/finish.ts';
import { best } from '../../build/likeness.ts';
import { messageTurns, roleOf, toolDefs, turnOfText, turnsOf } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { countStarts, gapOf } from '../../build/streams.ts';
import { anthropicUsage, billedCost } from '../../build/token-usage.ts';
import { fields, label, objects, parseJson } from '../../build/values.ts';
import {
  conversationsUnder,
  recordsUnder,
  repliesThat,
  streamsOf,
  wireReader,
} from '../../build/wire-reader.ts';
import { merged } from '../../otel/messages.ts';

const FORMAT = 'anthropic-messages';

/**
 * Anthropic Messages: conversations, replies, requests with replies, streams. Results carry a
 * failure flag.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Anthropic Messages: conversations, responses, request/response pairs, streams',
  unit: recordsUnder('messages'),
  // Plain messages occur in every provider's conversations; special blocks identify this one.
  detect: (sample) => best(sample, likeness),
  read: (records) => read(records),
};

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  const pair = pairOf({ value });
  if (pair !== undefined)
    return /\/v1\/messages\b/.test(pair.uri) || isReply(pair.response) ? 0.95 : 0;
  if (isReply(value) || (typeof value.type === 'string' && STREAM.has(value.type))) return 0.95;
  if (Array.isArray(value.messages)) {
    const scores = value.messages.slice(0, 50).map(messageLikeness);
    return scores.includes(0) ? 0 : Math.max(0, ...scores, isBlocks(value.system) ? 0.9 : 0);
  }
  return messageLikeness(value);
}

const BLOCKS = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'mcp_tool_use',
]);
const STREAM = new Set([
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'ping',
]);

function messageLikeness(message: unknown): number {
  if (!isFields(message) || (message.role !== 'user' && message.role !== 'assistant')) return 0;
  if ('tool_calls' in message || 'parts' in message) return 0;
  if (objects(message.content).some(({ type }) => typeof type === 'string' && BLOCKS.has(type)))
    return 0.92;
  return typeof message.content === 'string' || isBlocks(message.content) ? 0.2 : 0;
}

const isBlocks = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (block) => isFields(block) && typeof block.type === 'string' && block.type !== 'tool-call',
  );

const isReply = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((event) => isFields(event) && event.type === 'message_start')
    : isFields(value) &&
      value.type === 'message' &&
      Array.isArray(value.content) &&
      roleOf(value.role) === 'assistant';

const isStart = ({ value }: RawRecord): boolean => fields(value).type === 'message_start';

function wrapped(value: Fields): Draft {
  const model = label(value.model);
  return {
    source: { format: FORMAT },
    ...conversation([...systemOf(value), ...turnsOf(value.messages)], () => ({ model })),
    records: AGENT_RECORD,
    id: label(value.id),
    tools: value.tools === undefined ? undefined : toolDefs(value.tools),
  };
}

const systemOf = ({ system }: Fields): Turn[] => {
  const parts = turnsOf(
    typeof system === 'string' ? system : [{ role: 'user', content: system }],
  ).flatMap((turn) => turn.parts);
  return parts.length === 0 ? [] : [{ role: 'system', parts }];
};

export const ANTHROPIC_WIRE: Wire = {
  input: (request) => [...systemOf(request), ...turnsOf(request.messages)],
  reply: replyOf,
};

const read = wireReader({
  format: FORMAT,
  wire: ANTHROPIC_WIRE,
  ways: [
    conversationsUnder('messages', wrapped),
    streamsOf(
      (value) => isFields(value) && typeof value.type === 'string' && STREAM.has(value.type),
      () => countStarts(isStart),
    ),
    repliesThat(isReply),
  ],
  together: (values) => ({
    source: { format: FORMAT },
    ...conversation(values.filter(isFields).flatMap((value) => messageTurns(value))),
    records: AGENT_RECORD,
  }),
});

function replyOf(response: unknown): Reply & { output?: Turn } {
  const whole = Array.isArray(response) ? joined(response) : fields(response);
  // A body that is not a reply proves nothing, not even that no tool was called.
  const isReadable = Array.isArray(whole.content);
  return {
    provider: 'anthropic',
    output: !isReadable
      ? undefined
      : (merged(messageTurns({ content: whole.content, role: 'assistant' })) ??
        turnOfText('assistant', '')),
    model: label(whole.model),
    responseId: label(whole.id),
    usage: anthropicUsage(whole.usage),
    cost: billedCost(whole.usage),
    finish: finishOf(whole.stop_reason),
    ...gapOf({ cutOff: Array.isArray(response) && isReadable && !isFinished(whole.stop_reason) }),
  };
}

/** A complete stream has a stop reason. */
const isFinished = (reason: unknown): boolean => typeof reason === 'string' && reason !== '';

/**
 * Joins a streamed reply block by block. The usage at the start is provisional, and the last delta
 * has the final one.
 */
function joined(events: readonly unknown[]): Fields {
  const blocks = new Map<number, { block: Fields; text: string; json: string }>();
  let message: Fields = {};
  let usage: Fields = {};
  let stop: unknown;
  for (const event of events) {
    const { type, index, delta, content_block, message: start, usage: counted } = fields(event);
    if (type === 'message_start') message = fields(start);
    // The output count at the start is a placeholder.
    if (type === 'message_start') usage = { ...fields(message.usage), output_tokens: undefined };
    if (type === 'message_delta') {
      usage = { ...usage, ...fields(counted) };
      stop = fields(delta).stop_reason ?? stop;
    }
    if (typeof index !== 'number') continue;
    const block = blocks.get(index) ?? { block: {}, text: '', json: '' };
    if (type === 'content_block_start') block.block = fields(content_block);
    const { text, thinking, partial_json } = fields(delta);
    if (typeof text === 'string') block.text += text;
    if (typeof thinking === 'string') block.text += thinking;
    if (typeof partial_json === 'string') block.json += partial_json;
    blocks.set(index, block);
  }
  const content = [...blocks.values()].map(({ block, text, json }) =>
    json === ''
      ? {
          ...block,
          text: `${typeof block.text === 'string' ? block.text : ''}${text}`,
          thinking: block.type === 'thinking' ? text : undefined,
        }
      : { ...block, input: parseJson(json) ?? json },
  );
  return { ...message, usage, stop_reason: stop ?? message.stop_reason, content };
}
