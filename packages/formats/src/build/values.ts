import { parseUnambiguous } from '@agentci/lib/json';
import { type Fields, isFields, TRACE_LIMITS, TraceError } from '@agentci/trace';

/** A text, possibly empty. A text beyond the limit refuses the record. */
export function text(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (value.length <= TRACE_LIMITS.textLength) return value;
  throw new TraceError({
    code: 'TRACE_TOO_LARGE',
    message: `a text has ${value.length} characters, at most ${TRACE_LIMITS.textLength} are read`,
    path: '',
  });
}

/** A name or an id: text that is not empty, or a number. */
export function label(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? text(value) : undefined;
}

/** A count or an amount: finite and not negative. A number written as text counts, as 64-bit integers are. */
export function amount(value: unknown): number | undefined {
  const number =
    typeof value === 'string' && /^\d{1,20}(?:\.\d{1,20})?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** Any finite number. */
export const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

export const flag = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

/** The objects of a list, ignoring anything else. */
export const objects = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isFields) : [];

/** The object, or an empty one. */
export const fields = (value: unknown): Fields => (isFields(value) ? value : {});

/** The first of several spellings that is given. */
export function pick(source: Fields, ...keys: readonly string[]): unknown {
  for (const key of keys) {
    if (!Object.hasOwn(source, key)) continue;
    const value = source[key];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** Parses a JSON text. Undefined if it is invalid, ambiguous or nested too deep. */
export const parseJson = (value: string): unknown => parseUnambiguous(value);

/**
 * Decodes a value that writers serialize as JSON text, sometimes twice: objects and lists are
 * parsed, other text stays.
 */
export function unpacked(value: unknown): unknown {
  let current = value;
  for (let i = 0; i < 2 && typeof current === 'string' && /^\s*["{[]/.test(current); i++) {
    const parsed = parseJson(current);
    if (parsed === undefined) break;
    if (typeof parsed === 'string' && i > 0) break;
    current = parsed;
  }
  return typeof current === 'object' && current !== null ? current : value;
}

/** The arguments of a call: parsed once from JSON text, or kept as written. */
export function argumentsOf(value: unknown): { args?: unknown; argsRaw?: string } {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'string') return { args: value };
  if (value.trim() === '') return { args: {} };
  const parsed = parseJson(value);
  return parsed === undefined ? { argsRaw: text(value) ?? '' } : { args: parsed };
}

/** The result of a call: JSON objects and lists are parsed, other text stays. */
export function resultOf(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[{[]/.test(value))
    return typeof value === 'string' ? text(value) : value;
  return parseJson(value) ?? text(value);
}

const MAX_TIME_MS = 8.64e15;

/**
 * A time in epoch milliseconds. Text is ISO 8601, UTC without a zone; numbers are seconds,
 * milliseconds, microseconds or nanoseconds by size, because no run predates 1990.
 */
export function time(value: unknown): number | undefined {
  if (typeof value === 'string') return textTime(value);
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return undefined;
  if (value < 1e11) return value * 1000;
  if (value < 1e14) return value;
  if (value < 1e17) return value / 1e3;
  return inRange(value / 1e6);
}

function textTime(value: string): number | undefined {
  if (/^\d{1,20}$/.test(value)) return value.length > 16 ? nanoseconds(value) : time(Number(value));
  if (!/^\d{4}-\d{2}-\d{2}/.test(value) || value.length > 64) return undefined;
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(value);
  const iso = value.replace(' ', 'T');
  return inRange(Date.parse(hasZone || !iso.includes('T') ? iso : `${iso}Z`));
}

/** Parses nanoseconds in two parts, because they exceed exact doubles. */
export function nanoseconds(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) && value > 0 ? inRange(value / 1e6) : undefined;
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) return undefined;
  const padded = value.padStart(7, '0');
  const ms = Number(padded.slice(0, -6)) + Number(padded.slice(-6)) / 1e6;
  return ms > 0 ? inRange(ms) : undefined;
}

const inRange = (ms: number): number | undefined => (Math.abs(ms) <= MAX_TIME_MS ? ms : undefined);
