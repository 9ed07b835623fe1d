import { createRequire } from 'node:module';
import { isObject } from './object.ts';

let crypto: typeof import('node:crypto') | undefined;

/** SHA-256 of a text in lower-case hexadecimal. Loaded at first use: `validate` needs no hash, and the module takes 4 ms. */
export function sha256Hex(text: string): string {
  crypto ??= createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
  return crypto.hash('sha256', text);
}

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. Non-finite numbers become their names. */
export function canonicalJson(value: unknown): string {
  // Sorting what is not sorted and leaving the text to the engine takes half as long as writing it here.
  const sorting = new Sorting();
  const sorted = sorting.of(value);
  return sorting.isFaithful ? (JSON.stringify(sorted) ?? 'null') : canonical(value, new Map());
}

/** Gives a value with its keys sorted: the value itself where they are, a copy where not. */
class Sorting {
  /** An object that is in many places, such as an inherited default, is looked at once. */
  readonly #seen = new Map<object, unknown>();
  /** False once something was met that a copy cannot hold in order: keys that are numbers come first in every object. */
  isFaithful = true;

  of(value: unknown): unknown {
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'function') this.isFaithful = false;
    if (value === null || typeof value !== 'object') return value;
    const before = this.#seen.get(value);
    if (before !== undefined) return before;
    const sorted = Array.isArray(value) ? this.#list(value) : this.#map(value as SomeObject);
    this.#seen.set(value, sorted);
    return sorted;
  }

  /** Items that are maps mostly are in one list only, so they are not noted: the list is. */
  #list(list: readonly unknown[]): unknown {
    let copy: unknown[] | undefined;
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      if (typeof item === 'string') continue;
      const sorted = isObject(item) ? this.#map(item) : this.of(item);
      if (sorted !== item) {
        copy ??= [...list];
        copy[i] = sorted;
      }
    }
    return copy ?? list;
  }

  #map(map: SomeObject): SomeObject {
    const keys = Object.keys(map);
    let copy: SomeObject | undefined = isSorted(keys) ? undefined : {};
    if (copy !== undefined) sortKeys(keys);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      const first = key.charCodeAt(0);
      if ((first >= 0x30 && first <= 0x39) || key === '__proto__' || key === 'toJSON')
        this.isFaithful = false;
      const item = map[key];
      const sorted = typeof item === 'string' ? item : this.of(item);
      if (copy === undefined && sorted !== item) copy = firstOf(map, keys, i);
      if (copy !== undefined) copy[key] = sorted;
    }
    return copy ?? map;
  }
}

type SomeObject = Record<string, unknown>;

/** Most maps have a handful of keys: to put these in place one by one takes no memory, which the engine's own sorting does. */
const FEW_KEYS = 12;

function sortKeys(keys: string[]): void {
  if (keys.length > FEW_KEYS) {
    keys.sort();
    return;
  }
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let at = i;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false;
  return true;
}

/** A copy of what is before a place. */
function firstOf(map: SomeObject, keys: readonly string[], end: number): SomeObject {
  const copy: SomeObject = {};
  for (let i = 0; i < end; i++) copy[keys[i]!] = map[keys[i]!];
  return copy;
}

/** An object that is in many places, such as an inherited default, is written out once. */
function canonical(value: unknown, written: Map<object, string>): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number')
    return Number.isFinite(value) ? String(value) : quote(String(value));
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
const quote = (text: string): string =>
  PLAIN_ASCII.test(text) ? `"${text}"` : JSON.stringify(text);
