import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft, Turn } from '../../build/draft.ts';
import {
  langchainFinish,
  langchainMessage,
  langchainModel,
  langchainUsage,
} from '../../build/langchain.ts';
import { worst } from '../../build/likeness.ts';
import { messageTurns } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { usageOf } from '../../build/token-usage.ts';
import { fields, label } from '../../build/values.ts';
import { isStreamEvent, streamDraft } from './langchain-events.ts';

const FORMAT = 'langchain-langgraph';

/** Messages of LangChain and LangGraph in their three encodings, alone or as the state of a graph, and `streamEvents` v2. */
export const adapter: Adapter = {
  format: FORMAT,
  summary:
    'LangChain and LangGraph: messages (constructor, stored, plain), graph state, streamEvents v2',
  unit: (sample) => (sample.every((value) => messagesOf(value) !== undefined) ? 'record' : 'file'),
  detect: (sample) => worst(sample, likeness),
  read: (records) => {
    const [first] = records;
    if (first === undefined) return [];
    if (isStreamEvent(first.value)) return tryBuild(first, () => streamDraft(records, FORMAT));
    if (messagesOf(first.value) !== undefined)
      return records.flatMap((record) => tryBuild(record, () => stateDraft(record)));
    return tryBuild(first, () =>
      messagesDraft(records.flatMap(({ value }) => updateOf(value) ?? [value])),
    );
  },
};

function likeness(value: unknown): number {
  if (isStreamEvent(value)) return 0.97;
  if (updateOf(value) !== undefined) return 0.9;
  const messages = messagesOf(value);
  if (messages !== undefined)
    return messages.length > 0 ? worst(messages.slice(0, 20), messageLikeness) : 0;
  return messageLikeness(value);
}

const messageLikeness = (value: unknown): number => {
  if (langchainMessage(value) === undefined) return 0;
  if (isFields(value) && value.lc === 1) return 0.97;
  return 0.9;
};

/** The messages of a graph update, `{node: {messages}}`, from `stream_mode: updates`. */
function updateOf(value: unknown): readonly unknown[] | undefined {
  if (!isFields(value)) return undefined;
  const nodes = Object.values(value);
  const lists = nodes.map((node) => (isFields(node) ? node.messages : undefined));
  const isUpdate =
    nodes.length > 0 &&
    lists.every(
      (list) =>
        Array.isArray(list) && list.length > 0 && list.every((one) => langchainMessage(one)),
    );
  return isUpdate ? lists.flat() : undefined;
}

/** The messages of a graph's state. */
const messagesOf = (value: unknown): readonly unknown[] | undefined => {
  const list = isFields(value) ? value.messages : undefined;
  return Array.isArray(list) && langchainMessage(list[0]) !== undefined ? list : undefined;
};

function stateDraft(record: RawRecord): Draft {
  const value = fields(record.value);
  return {
    ...messagesDraft(messagesOf(value) ?? []),
    id: label(value.id) ?? label(value.thread_id),
  };
}

function messagesDraft(values: readonly unknown[]): Draft {
  const facts = new Map<Turn, Fields>();
  const turns = values.flatMap((value) => {
    const message = langchainMessage(value);
    if (message === undefined) return [];
    const read = messageTurns(message).map((turn) =>
      turn.role === 'assistant' && turn.name !== undefined ? { ...turn, agent: turn.name } : turn,
    );
    for (const turn of read) facts.set(turn, message);
    return read;
  });
  const talk = conversation(turns, (turn) => {
    const message = facts.get(turn) ?? {};
    return {
      model: label(langchainModel(message)),
      usage: usageOf(langchainUsage(message)),
      finish: langchainFinish(message),
      responseId: label(fields(message.response_metadata).id),
    };
  });
  return {
    source: { format: FORMAT },
    ...talk,
    records: AGENT_RECORD,
    speakersHandOff: true,
  };
}
