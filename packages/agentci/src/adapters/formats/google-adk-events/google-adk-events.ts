import { type Fields, isFields } from '../../../trace/fields.ts';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { messageTurns } from '../../build/messages.ts';
import { namedRuns } from '../../build/named-runs.ts';
import { fields, label, objects, pick } from '../../build/values.ts';
import { ADK_RECORDS, eventsDraft, invocationDraft, isEvent, withOutcome } from './google-adk-runs.ts';

const FORMAT = 'google-adk-events';

/** Google ADK: events of a session, and eval sets, whose cases are the runs somebody expects. One run an invocation. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Google ADK: session events and eval sets',
  unit: (sample) => (sample.length > 0 && sample.every((value) => !isEvent(value)) ? 'record' : 'file'),
  detect: (sample) => worst(sample, likeness),
  read,
};

const likeness = (value: unknown): number =>
  isEvent(value) || isSession(value) || isEvalSet(value) || contentRuns(value) !== undefined ? 0.97 : 0;

const isSession = (value: unknown): boolean =>
  isFields(value) && Array.isArray(value.events) && value.events.length > 0 && value.events.every(isEvent);

const isEvalSet = (value: unknown): value is Fields =>
  isFields(value) && 'eval_set_id' in value && Array.isArray(value.eval_cases);

/** Contents whose calls have ids of ADK's making. */
function contentRuns(value: unknown): readonly (readonly [string, readonly Fields[]])[] | undefined {
  if (isFields(value) && Array.isArray(value.contents)) {
    const run = contentsOf(value);
    return run === undefined ? undefined : [['', run]];
  }
  return namedRuns(value, contentsOf);
}

function contentsOf(value: unknown): readonly Fields[] | undefined {
  const list = isFields(value) && Array.isArray(value.contents) ? value.contents : undefined;
  if (list === undefined || !list.every((content) => isFields(content) && Array.isArray(content.parts)))
    return undefined;
  return objects(list).some((content) => objects(content.parts).some(hasOwnId)) ? objects(list) : undefined;
}

const hasOwnId = (part: Fields): boolean =>
  label(fields(pick(part, 'function_call', 'functionCall')).id)?.startsWith('adk-') === true;

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (isEvent(first.value)) return sessionItems(first, records.map(({ value }) => value).filter(isFields), {});
  return records.flatMap((record) => {
    const { value } = record;
    if (isEvalSet(value)) return evalItems(record, value);
    if (isFields(value) && isSession(value)) return sessionItems(record, objects(value.events), value);
    return (contentRuns(value) ?? []).flatMap(([name, contents]) =>
      tryBuild(record, () => contentsDraft(name, contents)),
    );
  });
}

function sessionItems(record: RawRecord, events: readonly Fields[], session: Fields): AdapterItem[] {
  const invocations = new Map<string, Fields[]>();
  for (const event of events) {
    const id = label(pick(event, 'invocationId', 'invocation_id')) ?? '';
    const known = invocations.get(id);
    if (known === undefined) invocations.set(id, [event]);
    else known.push(event);
  }
  return [...invocations].flatMap(([id, list]) =>
    tryBuild(record, () => eventsDraft({ id, events: list, session, format: FORMAT })),
  );
}

function evalItems(record: RawRecord, set: Fields): AdapterItem[] {
  return objects(set.eval_cases).flatMap((evalCase) =>
    objects(evalCase.conversation).flatMap((invocation) =>
      tryBuild(record, () => invocationDraft(invocation, { evalCase, format: FORMAT })),
    ),
  );
}

const contentsDraft = (name: string, contents: readonly Fields[]): Draft => ({
  source: { format: FORMAT },
  ...(name === '' ? {} : { id: name }),
  ...conversation(contents.flatMap(messageTurns).map(withOutcome)),
  records: ADK_RECORDS,
});
