import { isObject } from '@agentci/lib/data';
import { TraceError } from './trace-error.ts';

/** An untrusted object parsed from JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** Refuses a field with its path, the expected type and the found type, but never the value. */
export function refuse(path: string, expected: string, value: unknown): never {
  const where = path === '' ? 'the record' : `"${path}"`;
  throw new TraceError({
    code: 'TRACE_BAD_FIELD',
    message: `${where} must be ${expected}, not ${describe(value)}`,
    path,
  });
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return value === '' ? 'empty text' : 'text';
  if (typeof value === 'number')
    return Number.isFinite(value) ? `the number ${value}` : 'a non-finite number';
  return `a ${typeof value}`;
}

export const isFields: (value: unknown) => value is Fields = isObject;

/** Treats `null` as absent, because writers in other languages have no `undefined`. */
export const isGiven = (value: unknown): boolean => !isAbsent(value);

const isAbsent = (value: unknown): value is null | undefined =>
  value === undefined || value === null;

export function objectAt(value: unknown, path: string): Fields {
  return isFields(value) ? value : refuse(path, 'an object', value);
}

export function listAt(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(path, 'a list', value);
}

export function optionalText(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return value;
  return isAbsent(value) ? undefined : refuse(path, 'text', value);
}

export function textAt(value: unknown, path: string): string {
  return typeof value === 'string' && value !== ''
    ? value
    : refuse(path, 'text that is not empty', value);
}

/** A count, duration or amount: finite and not negative. */
export function optionalAmount(value: unknown, path: string): number | undefined {
  if (typeof value === 'number' && value >= 0 && value !== Number.POSITIVE_INFINITY) return value;
  return isAbsent(value) ? undefined : refuse(path, 'a number of at least 0', value);
}

/** A reading that may be negative if an instrument is wrong. The metric decides. */
export function optionalNumber(value: unknown, path: string): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return isAbsent(value) ? undefined : refuse(path, 'a number', value);
}

export function optionalFlag(value: unknown, path: string): boolean | undefined {
  if (typeof value === 'boolean') return value;
  return isAbsent(value) ? undefined : refuse(path, 'true or false', value);
}

export function optionalTexts(value: unknown, path: string): string[] | undefined {
  if (isAbsent(value)) return undefined;
  return listAt(value, path).map((item, i) =>
    typeof item === 'string' ? item : refuse(`${path}[${i}]`, 'text', item),
  );
}
