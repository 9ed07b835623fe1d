import { hash } from 'node:crypto';

/** SHA-256 of a text in lower-case hexadecimal. */
export const sha256Hex = (text: string): string => hash('sha256', text);

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. Non-finite numbers become their names. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : quote(String(value));
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined) text += `${text === '' ? '' : ','}${quote(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

const PLAIN_ASCII = /^[ !#-[\]-~]*$/;

/** Most texts need no escaping, and a test is cheaper than a call of `JSON.stringify` for each. */
const quote = (text: string): string => (PLAIN_ASCII.test(text) ? `"${text}"` : JSON.stringify(text));
