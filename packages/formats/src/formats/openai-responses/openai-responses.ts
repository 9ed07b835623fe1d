import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation, type Reply } from '../../build/conversation.ts';
import type { Draft, DraftRetrieval, Turn } from '../../build/draft.ts';
import {
  exchangeItems,
  pairOf,
  type Wire,
  type WireExchange,
  wireError,
} from '../../build/exchanges.ts';
import { finishOf } from '../../build/finish.ts';
import { worst } from '../../build/likeness.ts';
import { turnOfText } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { isResponseItem, itemTurns, retrievalsIn } from '../../build/response-items.ts';
import { countStarts, gapOf } from '../../build/streams.ts';
import { billedCost, usageOf } from '../../build/token-usage.ts';
import { fields, label, objects, time } from '../../build/values.ts';
import { streamsOf, wireReader } from '../../build/wire-reader.ts';
import { merged } from '../../otel/messages.ts';
import { isRealtime, isRealtimeEvent, realtimeDraft } from './realtime.ts';

const FORMAT = 'openai-responses';

/**
 * OpenAI Responses: items, responses, requests with responses, streams. Calls are paired by
 * `call_id`.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'OpenAI Responses: items, responses, request/response pairs, streams',
  unit: 'file',
  detect: (sample) =>
    worst(sample.some(isResponseItem) ? sample.filter(isNoPlainMessage) : sample, likeness),
  recognises: (value) => !isNoPlainMessage(value) || likeness(value) > 0,
  read: (records) => read(records),
};

/** Input messages may have only a role, which says nothing about the format. */
const isNoPlainMessage = (value: unknown): boolean =>
  !(
    isFields(value) &&
    value.type === undefined &&
    typeof value.role === 'string' &&
    'content' in value
  );

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  const pair = pairOf({ value });
  if (pair !== undefined)
    return /\/responses\b/.test(pair.uri) || isResponse(pair.response) ? 0.95 : 0;
  if (isResponse(value) || (typeof value.type === 'string' && /^response\./.test(value.type)))
    return 0.95;
  if (isRealtimeEvent(value)) return 0.9;
  if (value.type === 'error' && typeof value.sequence_number === 'number') return 0.9;
  // Messages alone could be anyone's. Items in camelCase are those of the Agents SDK.
  if ('callId' in value) return 0;
  if (isResponseItem(value)) return 0.9;
  if (
    value.type === 'message' &&
    'role' in value &&
    'content' in value &&
    !('stop_reason' in value)
  )
    return 0.7;
  return 0;
}

const isResponse = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(
        (event) =>
          isFields(event) && typeof event.type === 'string' && event.type.startsWith('response.'),
      )
    : isFields(value) && value.object === 'response' && Array.isArray(value.output);

const isStart = ({ value }: RawRecord): boolean => fields(value).type === 'response.created';

function itemsDraft(items: readonly unknown[]): Draft {
  const { steps, turns } = conversation(itemTurns(items));
  const retrievals: readonly DraftRetrieval[] = retrievalsIn(items);
  return {
    source: { format: FORMAT },
    steps: [...steps, ...retrievals],
    turns,
    records: { ...MESSAGES_RECORD, retrieval: 'full' },
  };
}

const responseExchange = (record: RawRecord): WireExchange => {
  const response = fields(record.value);
  return { record, input: inputOf(response), ...previous(response), ...replyOf(response) };
};

/** The previous response, or a conversation stored by the provider. */
const previous = (
  source: Fields,
): Pick<WireExchange, 'previousId' | 'threadId' | 'inputIsDelta'> => {
  const previousId = label(source.previous_response_id);
  const threadId = label(source.conversation) ?? label(fields(source.conversation).id);
  return previousId === undefined && threadId === undefined
    ? {}
    : { inputIsDelta: true, previousId, threadId };
};

function inputOf(request: Fields): Turn[] {
  const { instructions, input } = request;
  const turns =
    typeof input === 'string'
      ? [turnOfText('user', input)]
      : itemTurns(Array.isArray(input) ? input : []);
  return typeof instructions === 'string' ? [turnOfText('system', instructions), ...turns] : turns;
}

export const RESPONSES_WIRE: Wire = {
  input: inputOf,
  asked: ({ request, response }) => ({
    ...previous({
      ...fields(Array.isArray(response) ? lastOf(response) : response),
      ...given(request),
    }),
    model: label(request.model),
  }),
  reply: replyOf,
};

const read = wireReader({
  format: FORMAT,
  wire: RESPONSES_WIRE,
  ways: [
    {
      fits: (_, records) => isRealtime(records.map(({ value }) => value)),
      read: (records) =>
        tryBuild(records[0]!, () =>
          realtimeDraft(
            records.map(({ value }) => value),
            FORMAT,
          ),
        ),
    },
    streamsOf(
      (value) =>
        isFields(value) && typeof value.type === 'string' && value.type.startsWith('response.'),
      () => countStarts(isStart),
    ),
    { fits: isResponse, read: (records) => exchangeItems(records.map(responseExchange), FORMAT) },
  ],
  together: itemsDraft,
});

/** Request fields, which a response repeats with defaults. */
const given = (request: Fields): Fields =>
  Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== undefined && value !== null),
  );

function replyOf(response: unknown): Reply & { output?: Turn; error?: { message?: string } } {
  const whole = Array.isArray(response) ? lastOf(response) : fields(response);
  const turns = itemTurns(objects(whole.output));
  const isIncomplete = whole.status === 'incomplete';
  const reason = label(fields(whole.incomplete_details).reason);
  const output = merged(turns);
  const asksForCalls = (output?.calls ?? []).some(({ by }) => by === undefined);
  return {
    provider: 'openai',
    output: output ?? (whole.output === undefined ? undefined : turnOfText('assistant', '')),
    model: label(whole.model),
    responseId: label(whole.id),
    usage: usageOf(whole.usage),
    cost: billedCost(whole.usage),
    finish: isIncomplete ? finishOf(reason) : finishOfWhole(whole, asksForCalls),
    t0: time(whole.created_at),
    t1: time(whole.completed_at),
    ...gapOf({ cutOff: Array.isArray(response) && lastEvent(response) === undefined }),
    error: isFields(whole.error) ? wireError(whole, undefined) : undefined,
  };
}

const lastEvent = (events: readonly unknown[]): unknown =>
  events.findLast(
    (event) =>
      isFields(fields(event).response) &&
      /^response\.(?:completed|incomplete|failed)$/.test(String(fields(event).type)),
  );

/** The event that ends a stream holds the whole response. */
function lastOf(events: readonly unknown[]): Fields {
  const last = lastEvent(events);
  const done = events
    .filter((event) => fields(event).type === 'response.output_item.done')
    .map((event) => fields(event).item);
  if (last !== undefined) {
    const whole = fields(fields(last).response);
    return withItems(whole, objects(done));
  }
  const started = events.find((event) => fields(event).type === 'response.created');
  return { ...fields(fields(started).response), output: done.length === 0 ? undefined : done };
}

/**
 * Some servers omit the output, or all but the message, from the last event, so earlier events
 * count too.
 */
function withItems(whole: Fields, done: readonly Fields[]): Fields {
  const output = objects(whole.output);
  if (output.length === 0) return done.length > 0 ? { ...whole, output: done } : whole;
  const known = new Set(output.flatMap(namesOf));
  const missing = done.filter(
    (item) => item.type !== 'message' && !namesOf(item).some((name) => known.has(name)),
  );
  return missing.length === 0 ? whole : { ...whole, output: [...missing, ...output] };
}

/** The ids of an item, or its content without ids. */
function namesOf({ id, call_id, ...rest }: Fields): string[] {
  const ids = [label(id), label(call_id)].flatMap((name) => name ?? []);
  return ids.length > 0
    ? ids
    : [JSON.stringify([rest.type, rest.name, rest.arguments ?? rest.input])];
}

function finishOfWhole(whole: Fields, asksForCalls: boolean): 'tool_calls' | 'stop' | undefined {
  if (asksForCalls) return 'tool_calls';
  return whole.status === 'completed' ? 'stop' : undefined;
}
