import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { conversation, type Reply } from '../../build/conversation.ts';
import type { Draft, Turn } from '../../build/draft.ts';
import { pairOf, type Wire } from '../../build/exchanges.ts';
import { finishOf } from '../../build/finish.ts';
import { worst } from '../../build/likeness.ts';
import { messageTurns, roleOf, toolDefs, turnOfText, turnsOf } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { gapOf } from '../../build/streams.ts';
import { billedCost, usageOf } from '../../build/token-usage.ts';
import { fields, label, objects, pick, time } from '../../build/values.ts';
import {
  conversationsUnder,
  recordsUnder,
  repliesThat,
  streamsOf,
  wireReader,
} from '../../build/wire-reader.ts';
import { merged } from '../../otel/messages.ts';
import { StreamedChoice } from './streamed-choice.ts';

const FORMAT = 'openai-chat-completions';

/**
 * OpenAI Chat Completions and compatible servers: messages, replies, requests with replies,
 * streams.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'OpenAI Chat Completions: message lists, responses, request/response pairs, streams',
  unit: recordsUnder('messages'),
  detect: (sample) => worst(sample, likeness),
  read: (records) => read(records.filter(({ value }) => !isFilterNote(value))),
};

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  const pair = pairOf({ value });
  if (pair !== undefined) {
    if (/\/(?:chat\/)?completions\b/.test(pair.uri)) return 0.95;
    return isCompletion(pair.response) || hasChoices(pair.response) ? 0.95 : 0;
  }
  if (isCompletion(value)) return 0.95;
  if (Array.isArray(value.messages) && roleOf(fields(value.messages[0]).role) !== undefined) {
    const seen = Math.max(0, ...value.messages.slice(0, 50).map(messageLikeness));
    return isBenchmark(value) ? 0 : seen;
  }
  return messageLikeness(value);
}

/** Evaluation logs keep such messages next to facts about the run. */
const isBenchmark = (value: Fields): boolean =>
  'traj' in value ||
  'simulations' in value ||
  'user_task_id' in value ||
  'user_task_id' in fields(value.metadata) ||
  'exit_status' in fields(value.info) ||
  ('termination_reason' in value && 'task_id' in value);

/** Many formats have a role and a content, but not calls and results in OpenAI's form. */
function messageLikeness(message: unknown): number {
  if (!isFields(message) || roleOf(message.role) === undefined) return 0;
  if (objects(message.tool_calls).some(({ function: called }) => isFields(called))) return 0.9;
  if (
    message.role === 'tool' &&
    typeof message.tool_call_id === 'string' &&
    typeof message.content === 'string'
  )
    return 0.9;
  if (typeof message.content === 'string' || message.content === null) return 0.45;
  if (Array.isArray(message.content)) return 0.3;
  return 0;
}

const isCompletion = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every(isCompletion)
    : isFields(value) && (OBJECTS.has(value.object) || isFilterNote(value));

/** Chunks of Azure's content filter belong to no reply. */
const isFilterNote = (value: unknown): boolean =>
  isFields(value) &&
  value.object === '' &&
  Array.isArray(value.choices) &&
  objects(value.choices).every(
    (choice) => !('message' in choice) && fields(choice.delta).tool_calls === undefined,
  );

/** Recognizes replies of servers that omit `object`. */
const hasChoices = (value: unknown): boolean => {
  const [choice] = objects(fields(value).choices);
  return (
    choice !== undefined &&
    'finish_reason' in choice &&
    roleOf(fields(choice.message).role) === 'assistant'
  );
};

/** A completion of a text is a reply without a conversation. */
const OBJECTS = new Set<unknown>(['chat.completion', 'chat.completion.chunk', 'text_completion']);

/** Chunks of one reply share its id. One without belongs to the previous reply. */
const streamKey = ({ value }: RawRecord, before: string | undefined): string =>
  label(fields(value).id) ?? before ?? '';

/** Pieces of one text share an id; whole texts have one each. */
const isTextStream = (records: readonly RawRecord[]): boolean =>
  records.length > 1 &&
  records.every(({ value }) => fields(value).object === 'text_completion') &&
  new Set(records.map(({ value }) => fields(value).id)).size < records.length;

const messagesDraft = (turns: readonly Turn[], reply?: () => Reply): Draft => ({
  source: { format: FORMAT },
  ...conversation(turns, reply),
  records: MESSAGES_RECORD,
});

/** A conversation with facts next to it: an id, a model, totals. */
function wrapped(value: Fields): Draft {
  const model = label(value.model);
  const usage = usageOf(value.usage);
  return {
    ...messagesDraft(turnsOf(value.messages), () => ({ model })),
    id: label(value.id),
    tools: value.tools === undefined ? undefined : toolDefs(value.tools),
    reported: usage === undefined ? undefined : { usage },
  };
}

export const CHAT_WIRE: Wire = {
  input: ({ messages, prompt }) => (messages === undefined ? promptsOf(prompt) : turnsOf(messages)),
  reply: replyOf,
};

const promptsOf = (prompt: unknown): Turn[] =>
  (Array.isArray(prompt) ? prompt : [prompt]).flatMap((said) =>
    typeof said === 'string' ? [turnOfText('user', said)] : [],
  );

const read = wireReader({
  format: FORMAT,
  wire: CHAT_WIRE,
  ways: [
    conversationsUnder('messages', wrapped),
    streamsOf(
      (value, records) =>
        isFields(value) && (value.object === 'chat.completion.chunk' || isTextStream(records)),
      () => streamKey,
    ),
    repliesThat(isCompletion),
  ],
  together: (values) =>
    messagesDraft(values.filter(isFields).flatMap((value) => messageTurns(value))),
});

function replyOf(response: unknown): Reply & { output?: Turn } {
  const isStream = Array.isArray(response);
  const whole = isStream ? joined(response) : fields(response);
  const choices = objects(whole.choices);
  const choice = choices[0];
  const output =
    choice === undefined
      ? undefined
      : merged(messageTurns({ ...messageIn(choice), role: 'assistant' }));
  return {
    output,
    model: label(whole.model),
    responseId: label(whole.id),
    usage: usageOf(whole.usage),
    cost: billedCost(whole.usage),
    finish: finishOf(choice?.finish_reason),
    ...gapOf({
      cutOff: isStream && choice !== undefined && choice.finish_reason === undefined,
      alternatives: choices
        .slice(1)
        .some(({ message }) => (merged(messageTurns(fields(message)))?.calls ?? []).length > 0),
    }),
    t0: time(pick(whole, 'created', 'created_at')),
  };
}

/** Text completions have the text next to the index. */
const messageIn = ({ message, text }: Fields): Fields =>
  typeof text === 'string' && message === undefined ? { content: text } : fields(message);

/** Joins a streamed reply choice by choice, with the usage of the last chunk that has it. */
function joined(chunks: readonly unknown[]): Fields {
  let usage: unknown;
  const choices = new Map<number, StreamedChoice>();
  for (const chunk of chunks) {
    usage = fields(chunk).usage ?? usage;
    for (const choice of objects(fields(chunk).choices)) {
      const index = typeof choice.index === 'number' ? choice.index : 0;
      const open = choices.get(index) ?? new StreamedChoice();
      open.add(choice);
      choices.set(index, open);
    }
  }
  const inOrder = [...choices].toSorted(([a], [b]) => a - b).map(([, choice]) => choice.whole());
  return { ...fields(chunks[0]), usage, choices: inOrder };
}
