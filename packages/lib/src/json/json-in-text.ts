import { findJsonError } from './json-error.ts';

/** Bounds the total work on texts full of opening brackets. */
const MAX_WORK = 5_000_000;

/**
 * The outermost JSON objects and lists anywhere in a text, including code fences. `isWhole`: the
 * whole text was examined.
 */
export function jsonIn(text: string): {
  readonly values: readonly unknown[];
  readonly isWhole: boolean;
} {
  const values: unknown[] = [];
  let work = 0;
  for (let at = nextOpening(text, 0); at !== -1; ) {
    const error = findJsonError(text.slice(at));
    const end = error === undefined ? text.length : at + error.offset;
    work += end - at + 1;
    if (work > MAX_WORK) return { values, isWhole: false };
    const found = parsed(text.slice(at, end).trimEnd());
    if (found !== undefined) values.push(found.value);
    at = nextOpening(text, found === undefined ? at + 1 : Math.max(at + 1, end));
  }
  return { values, isWhole: true };
}

function nextOpening(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === '{' || text[at] === '[') return at;
  return -1;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
