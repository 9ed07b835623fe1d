import { isFields, isNativeTrace } from '@agentci/trace';
import type { Adapter, Unit } from '../adapter.ts';
import { adapter as simple } from '../formats/simple/simple.ts';
import { problemWith } from '../problem.ts';
import { type Detection, detectRecords } from './detect-records.ts';
import { expectationsIn } from './expectations.ts';
import { describeShape, recognises } from './recognise.ts';
import { unwrap } from './unwrap.ts';
import { wrappedAdapter } from './wrapped-list.ts';

/** The available formats, loaded on demand. */
export type AdapterList = () => Promise<readonly Adapter[]>;

/** Confidence at which our own format wins without asking the others. */
const OWN_SURE = 0.85;

/**
 * The adapter of a file, by its first records. If no format is clear, one that refuses every
 * record.
 */
export async function chooseAdapter(
  sample: readonly unknown[],
  list: AdapterList,
): Promise<Adapter> {
  const values = sample.map((value) => unwrap(value).value);
  const isExpected =
    values.length > 0 && values.every((value) => expectationsIn(value) !== undefined);
  if (!isExpected && simple.detect(values) >= OWN_SURE) return simple;
  // Its schema is of no use to anyone else, so it is loaded with it.
  if (values.every(isNativeTrace)) return (await import('../formats/agentci/agentci.ts')).adapter;
  const adapters = await list();
  if (isExpected) return unreadable({ format: undefined, confidence: 0, candidates: [] }, adapters);
  const whole = detectRecords(sample, adapters);
  const found = clearAdapter(whole, adapters);
  if (found !== undefined) return found;
  if (whole.candidates.length > 1) return unreadable(whole, adapters);
  return prevailing(values, adapters) ?? unreadable(whole, adapters);
}

/** Lower confidence only means that a record might match, which is too little to read a file. */
const ENOUGH = 0.3;

function clearAdapter(found: Detection, adapters: readonly Adapter[]): Adapter | undefined {
  const { format, confidence, candidates, wrapper } = found;
  if (candidates.length !== 1 || confidence < ENOUGH) return undefined;
  const adapter = adapters.find((known) => known.format === format);
  return adapter === undefined || wrapper === undefined
    ? adapter
    : wrappedAdapter(adapter, wrapper);
}

/**
 * The format of most records in a mixed file. The others become problems: one foreign line must
 * neither make a file unreadable nor be dropped silently.
 */
function prevailing(values: readonly unknown[], adapters: readonly Adapter[]): Adapter | undefined {
  const votes = adapters
    .map((adapter) => ({
      adapter,
      own: values.filter((value) => recognises(adapter, value, adapters)),
    }))
    .filter(({ own }) => own.length > 0)
    .toSorted((a, b) => b.own.length - a.own.length);
  for (const { adapter, own } of votes) {
    if (own.length * 2 <= values.length) break;
    if (clearAdapter(detectRecords(own, adapters), adapters) === adapter) return adapter;
  }
  // Without a majority, records that are whole runs are read in their own formats. Otherwise the
  // surest format reads its records, and the others are reported.
  const runs = votes.filter(({ adapter, own }) => unitOf(adapter, own) === 'record');
  const each =
    runs.find(({ adapter, own }) => isSureOf(adapter, own, { adapters, from: ENOUGH })) ??
    votes.find(({ adapter, own }) => isSureOf(adapter, own, { adapters, from: CERTAIN }));
  if (each !== undefined) return each.adapter;
  return votes.find(
    ({ adapter, own }) =>
      unitOf(adapter, values) === 'record' &&
      own.some((value) => adapter.detect([value]) >= ENOUGH),
  )?.adapter;
}

/** Whether exactly this format matches the records. */
function isSureOf(
  adapter: Adapter,
  own: readonly unknown[],
  { adapters, from }: { readonly adapters: readonly Adapter[]; readonly from: number },
): boolean {
  const telling = own.filter((value) => adapter.detect([value]) >= from);
  return telling.length > 0 && clearAdapter(detectRecords(telling, adapters), adapters) === adapter;
}
/** Joined records are read without a foreign one only if all others clearly belong together. */
const CERTAIN = 0.9;

export const unitOf = ({ unit }: Adapter, sample: readonly unknown[]): Unit =>
  typeof unit === 'string' ? unit : unit(sample);

/** Answers every record of a file whose format is not clear with that problem, so that none is lost. */
export function unreadable({ candidates }: Detection, adapters: readonly Adapter[]): Adapter {
  const isAmbiguous = candidates.length > 1;
  const names = candidates.map(({ format }) => format);
  const problemOf = (value: unknown) =>
    expectationsIn(value) ??
    (isAmbiguous
      ? {
          code: 'TRACE_AMBIGUOUS_FORMAT',
          message: `the record could be ${names.join(' or ')}: name the format`,
        }
      : {
          code: 'TRACE_UNKNOWN_FORMAT',
          message: `the record is in no known format: it is ${describeShape(value)}${wrappedIn(value, adapters)}${nearest(value, adapters)} (docs/adapters lists the formats)`,
        });
  return {
    format: 'unknown',
    summary: 'a format that is not clear',
    unit: 'record',
    detect: () => 0,
    recognises: () => true,
    read: (records) => records.map((record) => problemWith(record, problemOf(record.value))),
  };
}

/** The formats that a record has something of, though not enough to be read by. */
function nearest(value: unknown, adapters: readonly Adapter[]): string {
  const near = adapters
    .map((adapter) => ({ format: adapter.format, confidence: adapter.detect([value]) }))
    .filter(({ confidence }) => confidence > 0)
    .toSorted((a, b) => b.confidence - a.confidence)
    .slice(0, MAX_NEAREST)
    .map(({ format }) => format);
  return near.length === 0 ? '' : `; nearest: ${near.join(', ')}`;
}
const MAX_NEAREST = 3;

/** Names the unknown wrapper around records in a known format. */
function wrappedIn(value: unknown, adapters: readonly Adapter[]): string {
  if (!isFields(value)) return '';
  for (const [key, inner] of Object.entries(value).slice(0, MAX_KEYS)) {
    let records: readonly unknown[] = [];
    if (Array.isArray(inner)) records = inner.slice(0, MAX_WRAPPED);
    else if (isFields(inner)) records = [inner];
    if (records.length === 0) continue;
    const { format, confidence, candidates } = detectRecords(records, adapters);
    if (format !== undefined && confidence >= FLOOR && candidates.length === 1)
      return `; the value under ${JSON.stringify(key.slice(0, 40))} looks like ${format}: take it out of its wrapper`;
  }
  return '';
}
const MAX_KEYS = 20;
const MAX_WRAPPED = 20;
const FLOOR = 0.5;
