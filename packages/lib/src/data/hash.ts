import { isObject } from './object.ts';

/**
 * SHA-256 of a text in lower-case hexadecimal. Lazy, because loading the module takes 4 ms and
 * `validate` needs no hash.
 */
export const sha256Hex = (text: string): string =>
  process.getBuiltinModule('node:crypto').hash('sha256', text);

/**
 * JSON with sorted keys, so that equal values give equal text. Non-finite numbers become their
 * names.
 */
export function canonicalJson(value: unknown): string {
  let isFaithful = true;
  // One call of the engine, because joining the texts of 100,000 queries takes 140 MB more.
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (typeof item === 'number' && !Number.isFinite(item)) return String(item);
    if (!isObject(item)) return item;
    const keys = Object.keys(item).sort();
    // Numeric keys come first in every object, so a copy cannot keep them in order.
    if (keys.some((key) => /^\d|^(?:__proto__|toJSON)$/.test(key))) isFaithful = false;
    return Object.fromEntries(keys.map((key) => [key, item[key]]));
  });
  return isFaithful ? (text ?? 'null') : joined(value);
}

function joined(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (Array.isArray(value)) return `[${value.map(joined).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const parts: string[] = [];
  for (const key of Object.keys(value).sort())
    if (value[key] !== undefined) parts.push(`${JSON.stringify(key)}:${joined(value[key])}`);
  return `{${parts.join(',')}}`;
}
