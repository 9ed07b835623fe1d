import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { plainMessage } from '../../build/answer.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft } from '../../build/draft.ts';
import { best } from '../../build/likeness.ts';
import { turnOfText } from '../../build/messages.ts';
import { usageOf } from '../../build/token-usage.ts';
import { amount, fields, label, text } from '../../build/values.ts';
import { eventsDraft, isEvent } from './openhands-events.ts';
import { isSdkEvent, sdkDraft } from './openhands-sdk.ts';

const FORMAT = 'openhands';

/** OpenHands: trajectories (a list of events), rows of an evaluation's output with their history, and events of its SDK. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'OpenHands: trajectories, output.jsonl with history, events of the SDK',
  unit: (sample) =>
    sample.length > 0 && sample.every((value) => historyOf(value) !== undefined)
      ? 'record'
      : 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  if (historyOf(value) !== undefined) return 0.95;
  if (isSdkEvent(value)) return 0.96;
  // Without id and source, only the row identifies an event.
  return isEvent(value) && isFields(value) && 'source' in value && 'timestamp' in value ? 0.96 : 0;
}

const HISTORY = ['history', 'trajectory', 'events'];

/** The events of a row. Older rows keep each action in a pair with its observation. */
function historyOf(value: unknown): readonly Fields[] | undefined {
  if (!isFields(value)) return undefined;
  const list = HISTORY.map((key) => value[key]).find(
    (given) => Array.isArray(given) && given.length > 0,
  );
  if (!Array.isArray(list)) return undefined;
  const events = list.flat();
  return events.every((event) => isEvent(event) || isSdkEvent(event)) ? events : undefined;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (historyOf(first.value) !== undefined)
    return records.flatMap((record) => tryBuild(record, () => rowDraft(fields(record.value))));
  return tryBuild(first, () => draftOf(records.map(({ value }) => value).filter(isFields)));
}

const draftOf = (events: readonly Fields[]): Draft =>
  events.some(isSdkEvent) ? sdkDraft(events, FORMAT) : eventsDraft(events, FORMAT);

/** A row of an evaluation: task, history, cost and score. */
function rowDraft(row: Fields): Draft {
  const draft = draftOf(historyOf(row) ?? []);
  const id = label(row.instance_id) ?? label(row.id);
  const asked = text(row.instruction);
  const metrics = fields(row.metrics);
  const usd = amount(metrics.accumulated_cost);
  const usage = usageOf(metrics.accumulated_token_usage);
  const failure = text(row.error);
  return {
    ...draft,
    id: id ?? draft.id,
    task: {
      id,
      input: asked === undefined ? undefined : [plainMessage(turnOfText('user', asked))],
    },
    reported: {
      ...draft.reported,
      cost: usd === undefined ? draft.reported?.cost : { usd, source: 'reported' as const },
      usage: usage ?? draft.reported?.usage,
    },
    outcomes: outcomesOf(row),
    status: failure === undefined || failure === '' ? draft.status : ('error' as const),
    error: failure === undefined || failure === '' ? draft.error : { message: failure },
  };
}

function outcomesOf(row: Fields): NonNullable<Trace['outcomes']> {
  const result = fields(row.test_result);
  const resolved = fields(result.report).resolved ?? result.resolved ?? fields(row.report).resolved;
  return [
    { name: 'success', value: row.success },
    { name: 'resolved', value: resolved },
  ].flatMap(({ name, value }) => (typeof value === 'boolean' ? [{ name, value }] : []));
}
