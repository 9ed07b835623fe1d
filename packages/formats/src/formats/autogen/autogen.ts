import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft, Turn } from '../../build/draft.ts';
import { endingOf } from '../../build/ending.ts';
import { best } from '../../build/likeness.ts';
import { messageTurns, roleOf } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { label, objects } from '../../build/values.ts';
import { autogenSteps, isAutogenMessage } from './autogen-messages.ts';

const FORMAT = 'autogen';

/** AutoGen: messages and events of AgentChat, messages of its core, and the chat histories of AG2. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'AutoGen AgentChat and core messages, AG2 chat histories',
  unit: (sample) =>
    sample.length > 0 && sample.every((value) => wrapped(value) !== undefined) ? 'record' : 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  if (wrapped(value) !== undefined || isAutogenMessage(value)) return 0.97;
  if (!isFields(value) || roleOf(value.role) === undefined) return 0;
  // AG2 writes OpenAI messages with the speaker's name; only its lists of tool responses are
  // specific.
  if (Array.isArray(value.tool_responses)) return 0.97;
  if ('name' in value || 'content' in value) return 0.3;
  return 0;
}

function wrapped(value: unknown): readonly Fields[] | undefined {
  if (!isFields(value)) return undefined;
  if (
    Array.isArray(value.messages) &&
    value.messages.length > 0 &&
    value.messages.every(isAutogenMessage)
  )
    return objects(value.messages);
  const isChat = Array.isArray(value.chat_history) && ('summary' in value || 'cost' in value);
  return isChat ? objects(value.chat_history) : undefined;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (wrapped(first.value) === undefined)
    return tryBuild(first, () => draftOf(records.map(({ value }) => value).filter(isFields), {}));
  return records.flatMap((record) =>
    tryBuild(record, () =>
      draftOf(wrapped(record.value) ?? [], isFields(record.value) ? record.value : {}),
    ),
  );
}

function draftOf(messages: readonly Fields[], about: Fields): Draft {
  if (!messages.some(isAutogenMessage)) return chatDraft(messages, about);
  return {
    source: { format: FORMAT },
    ...autogenSteps(messages),
    records: {
      ...MESSAGES_RECORD,
      toolErrors: 'full',
      agents: 'full',
      handoffs: 'full',
      messages: 'full',
    },
    meta: { stop_reason: label(about.stop_reason) },
    ending: endingOf(label(about.stop_reason)),
  };
}

/** In AG2 the role `assistant` is any responder, and `name` is the speaker. */
function chatDraft(messages: readonly Fields[], about: Fields): Draft {
  const turns = messages.flatMap((message): Turn[] => {
    const responses = objects(message.tool_responses);
    if (responses.length > 0)
      return responses.flatMap((one) => messageTurns({ ...one, role: 'tool' }));
    const agent = label(message.name);
    return messageTurns(message).map((turn) =>
      turn.role === 'assistant' ? { ...turn, agent: agent ?? turn.agent } : turn,
    );
  });
  const summary = label(about.summary);
  return {
    source: { format: FORMAT, dialects: ['ag2'] },
    ...conversation(turns),
    records: { ...MESSAGES_RECORD, agents: 'full' },
    meta: { summary },
  };
}
