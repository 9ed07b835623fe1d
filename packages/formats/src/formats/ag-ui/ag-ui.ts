import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { joinSession } from '../../build/join-session.ts';
import { most } from '../../build/likeness.ts';
import { namedRuns } from '../../build/named-runs.ts';
import { label, objects } from '../../build/values.ts';
import { type AgUiPast, AgUiRun } from './ag-ui-run.ts';

const FORMAT = 'ag-ui';

/**
 * Events of the AG-UI protocol, as lines, a list, or a server's stream. One run from start to end.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'AG-UI events (RUN_STARTED, TEXT_MESSAGE_*, TOOL_CALL_* …), also as server-sent events',
  unit: 'file',
  detect: (sample) => most(sample, likeness),
  allowsStrays: true,
  read,
};

const EVENT =
  /^(?:RUN_(?:STARTED|FINISHED|ERROR)|STEP_(?:STARTED|FINISHED)|TEXT_MESSAGE_\w+|TOOL_CALL_(?:START|ARGS|END|RESULT|CHUNK)|STATE_(?:SNAPSHOT|DELTA)|MESSAGES_SNAPSHOT|ACTIVITY_\w+|REASONING_\w+|THINKING_\w+|RAW|CUSTOM)$/;

const isEvent = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === 'string' &&
  value.type.length < 64 &&
  EVENT.test(value.type);

const listOf = (value: unknown): readonly Fields[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every(isEvent) ? objects(value) : undefined;

const likeness = (value: unknown): number =>
  isEvent(value) || listsIn(value) !== undefined ? 0.97 : 0;

/** Events under `events`, or several named recordings. */
function listsIn(value: unknown): readonly (readonly [string, readonly Fields[]])[] | undefined {
  const own = isFields(value) ? listOf(value.events) : undefined;
  return own === undefined ? namedRuns(value, listOf) : [['', own]];
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const known: AgUiPast = { messages: new Map(), calls: new Map() };
  const [first] = records;
  if (first === undefined) return [];
  if (records.some(({ value }) => isEvent(value)))
    return runItems(
      records.map((record) => ({ record, event: record.value })),
      known,
    );
  return records.flatMap((record) =>
    (listsIn(record.value) ?? []).flatMap(([, events]) =>
      runItems(
        events.map((event) => ({ record, event })),
        known,
      ),
    ),
  );
}

/**
 * `known` is the state of earlier runs: a thread snapshot repeats it, and results of its calls may
 * arrive later.
 */
function runItems(
  events: readonly { record: RawRecord; event: unknown }[],
  known: AgUiPast,
): AdapterItem[] {
  const runs: { record: RawRecord; events: Fields[] }[] = [];
  let isOpen = false;
  for (const { record, event } of events) {
    if (!isFields(event) || !isEvent(event)) continue;
    // Events after the end of a run belong to the next one, whose start was not recorded.
    if (event.type === 'RUN_STARTED' || !isOpen) runs.push({ record, events: [] });
    isOpen = event.type !== 'RUN_FINISHED';
    runs.at(-1)!.events.push(event);
  }
  const items = runs.flatMap(({ record, events: list }) =>
    tryBuild(record, () => {
      const run = new AgUiRun(known);
      for (const event of list) run.add(event);
      return run.draft(FORMAT);
    }),
  );
  return threadsIn(items).flatMap((thread) => joinSession(thread, threadOf(thread[0])));
}

/** Consecutive runs of a thread are turns of one conversation. */
function threadsIn(items: readonly AdapterItem[]): readonly AdapterItem[][] {
  const threads: AdapterItem[][] = [];
  for (const item of items) {
    const last = threads.at(-1);
    const thread = threadOf(item);
    if (last !== undefined && thread !== undefined && thread === threadOf(last[0])) last.push(item);
    else threads.push([item]);
  }
  return threads;
}

const threadOf = (item: AdapterItem | undefined): string | undefined =>
  item?.ok === true ? label(item.trace.meta?.thread) : undefined;
