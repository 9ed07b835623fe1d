import type { Trace } from '@agentci/trace';
import { isFields, mayHoldCalls } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../adapter.ts';

/**
 * Reads records that wrap lines of a format in a list: `{"loglines": […]}`, `{"items": […]}`. Each
 * wrapper is read as a file of that format.
 */
export const wrappedAdapter = (inner: Adapter, key: string): Adapter => ({
  ...inner,
  unit: 'record',
  detect: (sample) => inner.detect(sample.flatMap((value) => itemsOf(value, key) ?? [value])),
  recognises: (value) => itemsOf(value, key) !== undefined,
  read: (records) => records.flatMap((record) => readWrapped(record, inner, key)),
});

function readWrapped(record: RawRecord, inner: Adapter, key: string): AdapterItem[] {
  const items = itemsOf(record.value, key) ?? [];
  const read = [...inner.read(items.map((value) => ({ ...record, value })))];
  const others = isFields(record.value)
    ? Object.entries(record.value).filter(([name]) => name !== key)
    : [];
  const doubtful = others.find(([name, value]) => mayHoldCalls(name, value))?.[0];
  return doubtful === undefined
    ? read
    : read.map((item) => (item.ok ? { ok: true, trace: unsure(item.trace, doubtful) } : item));
}

/** Fields next to the list are not read, and may mention more calls. */
function unsure(trace: Trace, key: string): Trace {
  const { toolCalls } = trace.captured;
  const message = `calls may be recorded under "${key.slice(0, 60)}", which is not read`;
  return {
    ...trace,
    captured: { ...trace.captured, toolCalls: toolCalls === 'full' ? 'partial' : toolCalls },
    warnings: [...trace.warnings, { code: 'WRAPPER_NOT_READ', message }],
  };
}

export const itemsOf = (value: unknown, key: string): readonly unknown[] | undefined => {
  const items = isFields(value) ? value[key] : undefined;
  return Array.isArray(items) && items.length > 0 && items.every(isFields) ? items : undefined;
};

/** Keys under which all of these records have a list of objects. */
export function listKeys(values: readonly unknown[]): string[] {
  const [first] = values;
  if (!isFields(first)) return [];
  return Object.keys(first)
    .slice(0, 50)
    .filter((key) => values.every((value) => itemsOf(value, key) !== undefined));
}
