import { createRequire } from 'node:module';

let crypto: typeof import('node:crypto') | undefined;

/** SHA-256 of a text in lower-case hexadecimal. Loaded at first use: `validate` needs no hash, and the module takes 4 ms. */
export function sha256Hex(text: string): string {
  crypto ??= createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
  return crypto.hash('sha256', text);
}

/**
 * Eight hexadecimal digits that tell texts apart, the same on every machine. For names people read, not for secrets:
 * two rounds of 32-bit multiplicative mixing.
 */
export function shortHash(text: string): string {
  let a = 0xdeadbeef ^ text.length;
  let b = 0x41c6ce57 ^ text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  return (a >>> 0).toString(16).padStart(8, '0');
}

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. Non-finite numbers become their names. */
export function canonicalJson(value: unknown): string {
  // Sorting a copy and leaving the text to the engine takes half as long as writing it here.
  const sorted = new SortedCopy();
  const copy = sorted.of(value);
  return sorted.isFaithful ? (JSON.stringify(copy) ?? 'null') : canonical(value, new Map());
}

/** Copies a value with its keys sorted; an object that stands in many places, such as an inherited default, once. */
class SortedCopy {
  readonly #copies = new Map<object, unknown>();
  /** False once something was met that a copy cannot hold in order: keys that are numbers come first in every object. */
  isFaithful = true;

  of(value: unknown): unknown {
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'function') this.isFaithful = false;
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    const before = this.#copies.get(value);
    if (before !== undefined) return before;
    const copy = Array.isArray(value) ? value.map((item) => this.of(item)) : this.#map(value as SomeObject);
    this.#copies.set(value, copy);
    return copy;
  }

  #map(value: SomeObject): SomeObject {
    const copy: SomeObject = {};
    for (const key of sortedKeys(value)) {
      const first = key.charCodeAt(0);
      if ((first >= 0x30 && first <= 0x39) || key === '__proto__' || key === 'toJSON') this.isFaithful = false;
      else copy[key] = this.of(value[key]);
    }
    return copy;
  }
}

type SomeObject = Record<string, unknown>;

const FEW_KEYS = 12;

/** Maps of a spec have few keys: putting those in order where they stand makes no garbage. */
function sortedKeys(value: SomeObject): string[] {
  const keys = Object.keys(value);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let at = i;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
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
