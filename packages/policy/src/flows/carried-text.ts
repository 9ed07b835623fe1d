import { foldText } from '@agentci/lib/text';

/**
 * Minimum length of a tracked whole value, in letters and digits. Shorter values occur in every
 * text.
 */
export const MIN_VALUE = 8;
/** A common substring of this length is always found. Shorter ones are not searched. */
export const MIN_RUN = 40;
/** Maximum number of characters remembered per flow, and searched per argument. */
export const MAX_REMEMBERED = 4_000_000;
export const MAX_ARGUMENT = 1_000_000;
const WINDOW = 32;
const STEP = 8;
const MAX_LEAVES = 100_000;
const MAX_DEPTH = 64;

/**
 * Removes differences from manual copying: case, width, white space, punctuation, invisible
 * characters.
 */
export const carriedForm = (text: string): string =>
  foldText(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/**
 * The texts in a value, outermost first. Undefined if there are too many. Parses JSON text.
 * Includes keys: all of them, or only those that are not field names.
 */
export function leavesOf(value: unknown, keys: 'all' | 'data' = 'all'): string[] | undefined {
  const leaves: string[] = [];
  const visit = (inner: unknown, depth: number): boolean => {
    if (depth > MAX_DEPTH || leaves.length > MAX_LEAVES) return false;
    if (typeof inner === 'string') {
      leaves.push(inner);
      const parsed = jsonIn(inner);
      return parsed === undefined || visit(parsed, depth + 1);
    }
    if (typeof inner === 'number' || typeof inner === 'bigint') leaves.push(String(inner));
    else if (Array.isArray(inner)) return inner.every((each) => visit(each, depth + 1));
    else if (typeof inner === 'object' && inner !== null)
      return Object.entries(inner).every(([key, each]) => {
        if (keys === 'all' || !FIELD_NAME.test(key)) leaves.push(key);
        return visit(each, depth + 1);
      });
    return true;
  };
  return visit(value, 0) ? leaves : undefined;
}

/**
 * Names chosen by the schema's author, with at most a short number. They reveal no data of a
 * result.
 */
const FIELD_NAME = /^[A-Za-z_$][A-Za-z_$.:/-]{0,63}\d{0,3}$/;

function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Text found in an earlier result. */
export interface Carried {
  /** The call that returned it. */
  readonly from: number;
  /** In normalized form. */
  readonly text: string;
  readonly kind: 'value' | 'passage';
}

/**
 * Remembers texts of results and finds them in arguments. Finds whole values anywhere as separate
 * words, and any substring of `MIN_RUN` characters of longer texts. Time and memory are linear in
 * the length of the texts.
 */
export class CarriedTexts {
  /** Whole values by prefix and length. */
  readonly #values = new Map<string, Map<number, Map<string, number>>>();
  /** Windows at regular intervals of a text. */
  readonly #windows = new Map<string, number>();
  #size = 0;
  #isFull = false;

  /** The limit was exceeded, so a text that is not found may still have occurred. */
  get isFull(): boolean {
    return this.#isFull;
  }

  add(value: unknown, from: number): void {
    const leaves = leavesOf(value, 'data');
    if (leaves === undefined) {
      this.#isFull = true;
      return;
    }
    for (const leaf of leaves) {
      const text = carriedForm(leaf);
      if (text.length < MIN_VALUE) continue;
      this.#size += text.length;
      if (this.#size > MAX_REMEMBERED) {
        this.#isFull = true;
        return;
      }
      if (text.length < MIN_RUN) this.#addValue(text, from);
      else
        for (let at = 0; at + WINDOW <= text.length; at += STEP) {
          const window = text.slice(at, at + WINDOW);
          if (!this.#windows.has(window)) this.#windows.set(window, from);
        }
    }
  }

  #addValue(text: string, from: number): void {
    const start = text.slice(0, MIN_VALUE);
    const lengths = this.#values.get(start) ?? new Map<number, Map<string, number>>();
    this.#values.set(start, lengths);
    const values = lengths.get(text.length) ?? new Map<string, number>();
    lengths.set(text.length, values);
    if (!values.has(text)) values.set(text, from);
  }

  /** The latest earlier result with a text of this value. `too_long` if it cannot be searched. */
  find(value: unknown): Carried | 'too_long' | undefined {
    if (this.#size === 0) return undefined;
    const leaves = leavesOf(value, 'data');
    if (leaves === undefined || leaves.reduce((sum, { length }) => sum + length, 0) > MAX_ARGUMENT)
      return 'too_long';
    let latest: Carried | undefined;
    const note = (found: Carried): void => {
      if (latest === undefined || found.from > latest.from) latest = found;
    };
    for (const leaf of leaves) this.#findIn(carriedForm(leaf), note);
    return latest;
  }

  #findIn(text: string, note: (found: Carried) => void): void {
    for (let at = 0; at + MIN_VALUE <= text.length; at++) {
      const from = this.#windows.get(text.slice(at, at + WINDOW));
      if (from !== undefined) note({ from, text: text.slice(at, at + WINDOW), kind: 'passage' });
      if (at > 0 && text[at - 1] !== ' ') continue;
      for (const [length, values] of this.#values.get(text.slice(at, at + MIN_VALUE)) ?? []) {
        const end = at + length;
        if (end < text.length && text[end] !== ' ') continue;
        const value = text.slice(at, end);
        const source = values.get(value);
        if (source !== undefined) note({ from: source, text: value, kind: 'value' });
      }
    }
  }
}
