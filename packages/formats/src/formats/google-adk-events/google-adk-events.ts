import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft } from '../../build/draft.ts';
import { joinSession } from '../../build/join-session.ts';
import { worst } from '../../build/likeness.ts';
import { messageTurns } from '../../build/messages.ts';
import { namedRuns } from '../../build/named-runs.ts';
import { fields, label, objects, pick } from '../../build/values.ts';
import {
  ADK_RECORDS,
  eventsDraft,
  invocationDraft,
  isEvent,
  withOutcome,
} from './google-adk-runs.ts';

const FORMAT = 'google-adk-events';

/**
 * Google ADK: events of a session, whose invocations are the turns of one conversation. Eval sets
 * contain expectations and are not read.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Google ADK: session events',
  unit: (sample) =>
    sample.length > 0 && sample.every((value) => !isEvent(value)) ? 'record' : 'file',
  detect: (sample) => worst(sample, likeness),
  read,
};

const likeness = (value: unknown): number =>
  isEvent(value) || isSession(value) || isEvalResult(value) || contentRuns(value) !== undefined
    ? 0.97
    : 0;

const isSession = (value: unknown): boolean =>
  isFields(value) &&
  Array.isArray(value.events) &&
  value.events.length > 0 &&
  value.events.every(isEvent);

/** An evaluation result has the actual run next to the expected one. */
const isEvalResult = (value: unknown): value is Fields =>
  isFields(value) && Array.isArray(pick(value, 'eval_case_results', 'evalCaseResults'));

/** Contents whose calls have ids of ADK's making. */
function contentRuns(
  value: unknown,
): readonly (readonly [string, readonly Fields[]])[] | undefined {
  if (isFields(value) && Array.isArray(value.contents)) {
    const run = contentsOf(value);
    return run === undefined ? undefined : [['', run]];
  }
  return namedRuns(value, contentsOf);
}

function contentsOf(value: unknown): readonly Fields[] | undefined {
  const list = isFields(value) && Array.isArray(value.contents) ? value.contents : undefined;
  if (
    list === undefined ||
    !list.every((content) => isFields(content) && Array.isArray(content.parts))
  )
    return undefined;
  return objects(list).some((content) => objects(content.parts).some(hasOwnId))
    ? objects(list)
    : undefined;
}

const hasOwnId = (part: Fields): boolean =>
  label(fields(pick(part, 'function_call', 'functionCall')).id)?.startsWith('adk-') === true;

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (isEvent(first.value))
    return [...sessionItems(first, records.map(({ value }) => value).filter(isFields), {})];
  return records.flatMap((record) => {
    const { value } = record;
    if (isEvalResult(value)) return evalResultItems(record, value);
    if (isFields(value) && isSession(value))
      return sessionItems(record, objects(value.events), value);
    return (contentRuns(value) ?? []).flatMap(([name, contents]) =>
      tryBuild(record, () => contentsDraft(name, contents)),
    );
  });
}

function sessionItems(
  record: RawRecord,
  events: readonly Fields[],
  session: Fields,
): readonly AdapterItem[] {
  const invocations = new Map<string, Fields[]>();
  for (const event of events) {
    const id = label(pick(event, 'invocationId', 'invocation_id')) ?? '';
    const known = invocations.get(id);
    if (known === undefined) invocations.set(id, [event]);
    else known.push(event);
  }
  const items = [...invocations].flatMap(([id, list]) =>
    tryBuild(record, () => eventsDraft({ id, events: list, session, format: FORMAT })),
  );
  return joinSession(items, label(session.id));
}

function evalResultItems(record: RawRecord, result: Fields): AdapterItem[] {
  return objects(pick(result, 'eval_case_results', 'evalCaseResults')).flatMap((evalCase) => {
    const judged = objects(
      pick(evalCase, 'eval_metric_result_per_invocation', 'evalMetricResultPerInvocation'),
    );
    const items = judged.flatMap((each) => {
      const actual = pick(each, 'actual_invocation', 'actualInvocation');
      return isFields(actual)
        ? tryBuild(record, () => invocationDraft(actual, { evalCase, format: FORMAT }))
        : [];
    });
    return joinSession(items, label(pick(evalCase, 'eval_id', 'evalId')));
  });
}

const contentsDraft = (name: string, contents: readonly Fields[]): Draft => ({
  source: { format: FORMAT },
  id: name !== '' ? name : undefined,
  ...conversation(contents.flatMap(messageTurns).map(withOutcome)),
  records: ADK_RECORDS,
});
