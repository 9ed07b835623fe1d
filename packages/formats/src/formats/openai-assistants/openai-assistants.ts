import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { pairOf } from '../../build/exchanges.ts';
import { fields, label, objects } from '../../build/values.ts';
import { assistantRun } from './assistant-run.ts';

const FORMAT = 'openai-assistants';

/** OpenAI Assistants: runs, run steps and messages of threads, as objects, lists, streams or recorded requests. */
export const adapter: Adapter = {
  format: FORMAT,
  summary:
    'OpenAI Assistants: run steps, runs and messages of threads, streams, request/response pairs',
  unit: 'file',
  detect: (sample) => {
    const scores = sample.map(likeness);
    return scores.length === 0 || scores.includes(0) ? 0 : Math.max(...scores);
  },
  recognises: (value) => likeness(value) > 0,
  read,
};

const KIND = /^thread(?:\.run(?:\.step(?:\.delta)?)?|\.message(?:\.delta)?|\.deleted)?$/;

const isThreadObject = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.object === 'string' &&
  value.object.length < 40 &&
  KIND.test(value.object);

function likeness(value: unknown): number {
  const found = objectsIn(value);
  if (found.some(({ object }) => object !== 'thread' && object !== 'thread.deleted')) return 0.95;
  const pair = pairOf({ value });
  // The assistant and the thread are made before anything runs.
  if (pair !== undefined && /\/v1\/(?:assistants|threads)\b/.test(pair.uri)) return 0.6;
  return found.length > 0 ? 0.4 : 0;
}

/** The thread data in a record: an object, a list, or stream events. */
function objectsIn(value: unknown): Fields[] {
  const held = pairOf({ value })?.response ?? value;
  let list: unknown;
  if (Array.isArray(held)) list = held;
  else if (isFields(held) && held.object === 'list') list = held.data;
  else list = [held];
  return objects(list)
    .map((item) => (isFields(item.data) && typeof item.event === 'string' ? item.data : item))
    .filter(isThreadObject);
}

/** One run is one trace, whose input is the earlier messages of its thread. */
function read(records: readonly RawRecord[]): AdapterItem[] {
  const runs = new Map<
    string,
    { record: RawRecord; steps: Map<string, Fields>; run: Fields; isCut: boolean }
  >();
  const messages = new Map<string, Fields>();
  for (const record of records) {
    const isCut = fields(pairOf(record)?.response ?? record.value).has_more === true;
    for (const found of objectsIn(record.value)) {
      const id = label(found.id) ?? '';
      if (found.object === 'thread.message') messages.set(id, found);
      if (found.object !== 'thread.run' && found.object !== 'thread.run.step') continue;
      const key = (found.object === 'thread.run' ? label(found.id) : label(found.run_id)) ?? '';
      const run = runs.get(key) ?? { record, steps: new Map(), run: {}, isCut: false };
      runs.set(key, run);
      run.isCut ||= isCut;
      if (found.object === 'thread.run') run.run = { ...run.run, ...found };
      else run.steps.set(id, found);
    }
  }
  const said = [...messages.values()];
  if (runs.size === 0 && records[0] !== undefined)
    return tryBuild(records[0], () =>
      assistantRun({ id: '', run: {}, steps: [], isCut: false }, said, FORMAT),
    );
  return [...runs].flatMap(([id, { record, steps, run, isCut }]) =>
    tryBuild(record, () =>
      assistantRun({ id, run, steps: [...steps.values()], isCut }, said, FORMAT),
    ),
  );
}
