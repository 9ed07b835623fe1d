import { hash } from 'node:crypto';

/** SHA-256 of a text in lower-case hexadecimal. */
export const sha256Hex = (text: string): string => hash('sha256', text);

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. Non-finite numbers become their names. */
export function canonicalJson(value: unknown): string {
  return canonical(value, new Map());
}

/** An object that stands in many places, such as an inherited default, is written out once. */
function canonical(value: unknown, written: Map<object, string>): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : quote(String(value));
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const before = written.get(value);
  if (before !== undefined) return before;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) parts.push(canonical(item, written));
  } else {
    for (const key of Object.keys(value).sort()) {
      const item = (value as Record<string, unknown>)[key];
      if (item !== undefined) parts.push(`${quote(key)}:${canonical(item, written)}`);
    }
  }
  const text = Array.isArray(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
  written.set(value, text);
  return text;
}

const PLAIN_ASCII = /^[ !#-[\]-~]*$/;

/** Most texts need no escaping, and a test is cheaper than a call of `JSON.stringify` for each. */
const quote = (text: string): string => (PLAIN_ASCII.test(text) ? `"${text}"` : JSON.stringify(text));
