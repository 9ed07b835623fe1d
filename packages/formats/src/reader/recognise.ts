import { isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../adapter.ts';
import { problemWith } from '../problem.ts';
import { detectRecords } from './detect-records.ts';

/** Another format that is this sure of a record makes it foreign, whatever the file's own format puts up with. */
const SURE = 0.9;
const FLOOR = 0.5;
/** A format that fits better by this margin wins over a named one. */
const FAR_BETTER = 0.4;

/** Whether a record can be part of a recording in this format. */
export function recognises(
  adapter: Adapter,
  value: unknown,
  adapters: readonly Adapter[],
): boolean {
  if (adapter.recognises?.(value) ?? adapter.detect([value]) > 0) return true;
  return adapter.allowsStrays === true && detectRecords([value], adapters).confidence < SURE;
}

/**
 * Whether the records are in the named format. The name decides between matching formats, but
 * cannot force a format, because calls would be lost silently.
 */
export function isPlausible(
  adapter: Adapter,
  sample: readonly unknown[],
  adapters: readonly Adapter[],
): boolean {
  const own = sample.filter((value) => adapter.recognises?.(value) ?? adapter.detect([value]) > 0);
  const named = adapter.detect(own);
  return (
    named >= FLOOR || (named > 0 && detectRecords(own, adapters).confidence - named < FAR_BETTER)
  );
}

/** A record that is not in the format it should be in, with the format it looks like. */
export function notFormat(
  record: RawRecord,
  adapter: Adapter,
  adapters: readonly Adapter[],
): AdapterItem {
  const { format, confidence } = detectRecords([record.value], adapters);
  const looks =
    format !== undefined && confidence >= FLOOR && format !== adapter.format
      ? `it looks like ${format}`
      : `it is ${describeShape(record.value)}`;
  return problemWith(record, {
    code: 'TRACE_NOT_FORMAT',
    message: `the record is not in the format ${adapter.format}: ${looks}`,
  });
}

const MAX_KEYS = 8;

/** The apparent format of a record, for messages. */
export function describeShape(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value === null) return 'null';
  if (!isFields(value)) return `the ${typeof value} ${JSON.stringify(value).slice(0, 60)}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return 'an object without keys';
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  return `an object with ${keys
    .slice(0, MAX_KEYS)
    .map((key) => JSON.stringify(key.slice(0, 40)))
    .join(', ')}${more}`;
}
