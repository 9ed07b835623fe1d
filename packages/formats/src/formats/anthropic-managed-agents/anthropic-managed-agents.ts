import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { best } from '../../build/likeness.ts';
import { fields, label, objects } from '../../build/values.ts';
import { isEvent, sessionDraft } from './managed-session.ts';

const FORMAT = 'anthropic-managed-agents';

/**
 * Sessions of Anthropic's managed agents: events as the API streams or lists them, alone or next to
 * their SDK call (`["client.beta.sessions.events.stream", EVENT]`).
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary:
    'Anthropic managed agents: events of a session, listed, streamed or as [call, event] pairs',
  unit: (sample) => (sample.length > 0 && sample.every(isPage) ? 'record' : 'file'),
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  if (isPair(value) || isPage(value)) return 0.97;
  if (isEvent(value) && isFields(value))
    return (label(value.type) ?? '').startsWith('user.') ? 0.6 : 0.96;
  return 0;
}

const CALL = /^(?:client\.)?(?:beta\.)?sessions\b/;
const isPair = (value: unknown): value is readonly [string, unknown] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && CALL.test(value[0]);

/** A page of the events of one session. */
const isPage = (value: unknown): boolean =>
  isFields(value) &&
  [value.data, value.events].some(
    (list) => Array.isArray(list) && list.length > 0 && list.every(isEvent),
  );

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (isPage(first.value))
    return records.flatMap((record) =>
      tryBuild(record, () => sessionDraft(eventsOf(record.value), {}, FORMAT)),
    );
  const values = records.map(({ value }) => value);
  const session = values
    .filter(isPair)
    .map(([, payload]) => fields(payload))
    .find(({ agent }) => isFields(agent));
  return tryBuild(first, () => sessionDraft(withoutSent(values), session ?? {}, FORMAT));
}

function eventsOf(value: unknown): readonly Fields[] {
  if (isPair(value)) {
    const [, payload] = value;
    // Sent events come with their session.
    const sent = (Array.isArray(payload) ? payload : [payload]).flatMap((item) =>
      objects(fields(item).events),
    );
    if (sent.length > 0) return sent;
    if (isEvent(payload)) return [fields(payload)];
    return [];
  }
  if (isEvent(value)) return [fields(value)];
  const { data, events } = fields(value);
  return objects(Array.isArray(data) ? data : events);
}

/** Drops sent events that are streamed back with an id. */
function withoutSent(values: readonly unknown[]): Fields[] {
  const events = values.flatMap(eventsOf);
  const said = new Set(events.filter(({ id }) => label(id) !== undefined).map(essence));
  return events.filter((event) => label(event.id) !== undefined || !said.has(essence(event)));
}

const essence = ({ type, content, tool_use_id, custom_tool_use_id, result }: Fields): string =>
  JSON.stringify([type, textsOf(content), tool_use_id, custom_tool_use_id, result]);

const textsOf = (content: unknown): unknown =>
  Array.isArray(content) ? objects(content).map(({ text }) => text) : content;
