import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { timeSpan } from '../../build/time-span.ts';
import { label, objects, pick, text, time } from '../../build/values.ts';
import { isPart, type Message, pydanticRun, requestUsage } from './pydantic-ai-parts.ts';

const FORMAT = 'pydantic-ai-messages';

/**
 * Pydantic AI: `result.all_messages_json()`, and objects with messages or parts next to the output.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Pydantic AI message histories (all_messages_json)',
  unit: (sample) =>
    sample.length > 0 && sample.every((value) => wrapped(value) !== undefined) ? 'record' : 'file',
  detect: (sample) => worst(sample, likeness),
  read,
};

const likeness = (value: unknown): number => {
  if (isMessage(value) || wrapped(value) !== undefined) return 0.97;
  if (isPart(value)) return 0.95;
  return 0;
};

const isMessage = (value: unknown): boolean =>
  isFields(value) &&
  (value.kind === 'request' || value.kind === 'response') &&
  Array.isArray(value.parts) &&
  value.parts.every(isPart);

/** Messages under a custom key, with the fields next to them. */
function wrapped(
  value: unknown,
): { readonly list: readonly Fields[]; readonly about: Fields } | undefined {
  if (!isFields(value) || isMessage(value)) return undefined;
  for (const key of ['messages', 'all_messages', 'new_messages', 'trace', 'message_history']) {
    const list = value[key];
    if (
      Array.isArray(list) &&
      list.length > 0 &&
      list.every((item) => isMessage(item) || isPart(item))
    )
      return { list: objects(list), about: value };
  }
  return undefined;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (wrapped(first.value) === undefined)
    return tryBuild(first, () => draftOf(records.map(({ value }) => value).filter(isFields), {}));
  return records.flatMap((record) =>
    tryBuild(record, () => {
      const found = wrapped(record.value);
      return found === undefined ? undefined : draftOf(found.list, found.about);
    }),
  );
}

function draftOf(list: readonly Fields[], about: Fields): Draft {
  const isWhole = list.every(isMessage);
  const messages: readonly Message[] = isWhole ? list.map(messageOf) : partMessages(list);
  const run = pydanticRun(messages);
  const usage = requestUsage(about.usage);
  const output = pick(about, 'output', 'result', 'data');
  const final = output === undefined ? run.final : answerOf(output);
  const times = messages.flatMap(({ about: { timestamp }, parts }) => [
    timestamp,
    ...parts.map((part) => part.timestamp),
  ]);
  const lastRun = messages.findLast(({ about: { run_id: id } }) => id !== undefined && id !== null);
  return {
    source: { format: FORMAT },
    steps: run.steps,
    turns: run.turns,
    ...timeSpan(times.map(time)),
    id: label(lastRun?.about.run_id),
    final,
    reported: usage === undefined ? undefined : { usage },
    records: {
      toolCalls: 'full',
      toolArgs: 'full',
      toolResults: 'full',
      toolErrors: 'full',
      // A list of parts does not show the boundaries of replies.
      llmCalls: isWhole ? 'full' : 'partial',
      prompts: 'full',
    },
  };
}

const messageOf = (message: Fields): Message => ({
  kind: message.kind === 'response' ? 'response' : 'request',
  parts: objects(message.parts),
  about: message,
});

const REPLY_PARTS = new Set([
  'text',
  'thinking',
  'tool-call',
  'builtin-tool-call',
  'builtin-tool-return',
  'file',
]);

/** Parts without messages, or mixed with some: neighbors of one side form a message. */
function partMessages(items: readonly Fields[]): Message[] {
  const messages: { kind: Message['kind']; parts: Fields[]; about: Fields }[] = [];
  for (const part of items.flatMap((item) =>
    Array.isArray(item.parts) ? objects(item.parts) : [item],
  )) {
    const kind =
      typeof part.part_kind === 'string' && REPLY_PARTS.has(part.part_kind)
        ? 'response'
        : 'request';
    const last = messages.at(-1);
    if (last?.kind === kind) last.parts.push(part);
    else messages.push({ kind, parts: [part], about: {} });
  }
  return messages;
}

const answerOf = (value: unknown): NonNullable<Trace['final']> =>
  typeof value === 'string' ? { text: text(value) ?? '' } : { data: value };
