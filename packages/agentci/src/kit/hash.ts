import { createRequire } from 'node:module';

let crypto: typeof import('node:crypto') | undefined;

/** SHA-256 of a text in lower-case hexadecimal. Loaded at first use: `validate` needs no hash, and the module takes 4 ms. */
export function sha256Hex(text: string): string {
  crypto ??= createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
  return crypto.hash('sha256', text);
}

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. Non-finite numbers become their names. */
export function canonicalJson(value: unknown): string {
  return canonical(value, new Map());
}

/** An object that is in many places, such as an inherited default, is written out once. */
function canonical(value: unknown, written: Map<object, string>): string {
  if (typeof value === 'number')
    return JSON.stringify(Number.isFinite(value) ? value : String(value));
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const before = written.get(value);
  if (before !== undefined) return before;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) parts.push(canonical(item, written));
  } else {
    for (const key of Object.keys(value).sort()) {
      const item = (value as Record<string, unknown>)[key];
      if (item !== undefined) parts.push(`${JSON.stringify(key)}:${canonical(item, written)}`);
    }
  }
  const text = Array.isArray(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
  written.set(value, text);
  return text;
}
