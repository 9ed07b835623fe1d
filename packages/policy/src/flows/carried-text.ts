import { foldText } from '@agentci/lib/text';

/** The shortest whole value that is followed, in letters and digits. Shorter ones are in every text. */
export const MIN_VALUE = 8;
/** A run of this many characters in common is found wherever it begins; a shorter one is not looked for. */
export const MIN_RUN = 40;
/** Characters of results that are remembered for one flow, and of one argument that are looked through. */
export const MAX_REMEMBERED = 4_000_000;
export const MAX_ARGUMENT = 1_000_000;
const WINDOW = 32;
const STEP = 8;
const MAX_LEAVES = 100_000;
const MAX_DEPTH = 64;

/** A text without what changes when it is copied by hand: case, width, white space, punctuation, what does not show. */
export const carriedForm = (text: string): string =>
  foldText(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/**
 * The texts in a value, outermost first; undefined when there are too many to look at. Text that is JSON is looked into, and
 * keys are texts as well: all of them, or those alone that are not the name of a field.
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

/** Words that whoever wrote the schema chose, with a short number at most; a result that says such a name gives nothing away. */
const FIELD_NAME = /^[A-Za-z_$][A-Za-z_$.:/-]{0,63}\d{0,3}$/;

function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What was found of an earlier result. */
export interface Carried {
  /** The call whose result it is from. */
  readonly from: number;
  /** As compared. */
  readonly text: string;
  readonly kind: 'value' | 'passage';
}

/**
 * Remembers what results said and finds it in arguments. Whole values are found wherever they are, as words of their own;
 * of longer texts any run of `MIN_RUN` characters is. Work and memory grow with the length of the texts and no faster.
 */
export class CarriedTexts {
  /** Whole values by their first characters and their length. */
  readonly #values = new Map<string, Map<number, Map<string, number>>>();
  /** Every so many characters of a text, a window of it. */
  readonly #windows = new Map<string, number>();
  #size = 0;
  #isFull = false;

  /** More was given than is remembered: what is not found may still have been there. */
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

  /** What in a value came from an earlier result, the latest of them; `too_long` where it cannot be looked through. */
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
