import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { re2Source } from './regex-source.ts';
import { type ParsedRegex, PatternError, parseRegex, type RegexElement } from './regex-syntax.ts';
import { type WorkBound, workBound, workFor } from './regex-work.ts';
import { GUARD_TIMEOUT_MS, runGuarded } from './time-guard.ts';

/** A compiled regular expression that always answers in bounded time, whatever the text. */
export interface Regex {
  readonly source: string;
  /** Searches anywhere in the text. Throws `RegexTimeout` when it could not tell: never take that for a yes or a no. */
  readonly test: (text: string) => boolean;
  /** The first match and where it begins, or undefined. Throws `RegexTimeout` like `test`. */
  readonly firstMatch: (
    text: string,
  ) => { readonly index: number; readonly text: string } | undefined;
}

export type RegexResult =
  | { readonly ok: true; readonly regex: Regex }
  | { readonly ok: false; readonly message: string; readonly offset?: number };

/** A pattern with look-around or a backreference ran out of time on this text, so whether it matches is not known. */
export class RegexTimeout extends Error {
  constructor(source: string) {
    super(`the pattern ${source} gave no answer within ${GUARD_TIMEOUT_MS} ms`);
    this.name = 'RegexTimeout';
  }
}

/** Steps a native run may provably take; a few milliseconds at worst. */
const NATIVE_BUDGET = 2_000_000;
const CACHE_SIZE = 1_000;
const cache = new Map<string, RegexResult>();

/**
 * Compiles a pattern in JavaScript syntax; Python-only spellings are translated.
 *
 * Three engines share the work. V8 runs a pattern where its steps on this text are provably few; RE2 (linear time) runs the
 * rest; V8 under a time limit runs what RE2 cannot (look-around, backreferences). All read characters as code points.
 */
export function compileRegex(pattern: string, flags = ''): RegexResult {
  const key = `${flags}/${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const result = compile(pattern, flags);
  if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!);
  cache.set(key, result);
  return result;
}

/** The pattern is found in every text, as `.*` and `a?` are: nothing they need has to be there. */
export function matchesEverything(pattern: string): boolean {
  try {
    return parseRegex(pattern).options.some(needsNothing);
  } catch {
    return false;
  }
}

const needsNothing = (option: { readonly elements: readonly RegexElement[] }): boolean =>
  option.elements.every((node) => {
    if (node.type === 'Quantifier')
      return node.min === 0 || needsNothing({ elements: [node.element] });
    return (
      /Group$/.test(node.type) && 'alternatives' in node && node.alternatives.some(needsNothing)
    );
  });

/** Steps are at most proportional to the text's length in V8, so the pattern needs no guard there. */
export function isLinearInV8(pattern: string): boolean {
  try {
    const bound = workBound(parseRegex(pattern));
    return bound !== undefined && bound.degree <= 1 && bound.factor <= 1_000;
  } catch {
    return false;
  }
}

function compile(pattern: string, flags: string): RegexResult {
  try {
    const parsed = parseRegex(pattern, flags);
    const native = parsed.hasScopedFlags ? undefined : new RegExp(parsed.source, parsed.flags);
    return { ok: true, regex: pickEngine(pattern, parsed, native) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof PatternError) return { ok: false, message, offset: error.offset };
    return { ok: false, message };
  }
}

function pickEngine(pattern: string, parsed: ParsedRegex, native: RegExp | undefined): Regex {
  const bound = workBound(parsed);
  // Compiled at first need: most patterns never leave the native path, and the engine takes 10 ms to load.
  let linear: LinearEngine | undefined;
  const linearEngine = (): LinearEngine => (linear ??= compileLinear(parsed, native === undefined));
  if (native === undefined) linearEngine();

  const run = <T>(
    text: string,
    onNative: (regex: RegExp) => T,
    onLinear: (regex: RE2JS) => T,
  ): T => {
    if (native !== undefined && isCheap(bound, text)) return onNative(native);
    const engine = parsed.needsBacktracking ? undefined : linearEngine().regex;
    if (engine !== undefined && (native === undefined || !differsHere(parsed, text)))
      return onLinear(engine);
    const guarded = runGuarded(() => onNative(native!));
    if (!guarded.ok) throw new RegexTimeout(pattern);
    return guarded.value;
  };
  return {
    source: pattern,
    test: (text) =>
      run(
        text,
        (regex) => regex.test(text),
        (regex) => regex.test(text),
      ),
    firstMatch: (text) =>
      run(
        text,
        (regex) => {
          const match = regex.exec(text);
          return match === null ? undefined : { index: match.index, text: match[0] };
        },
        (regex) => {
          const matcher = regex.matcher(text);
          return matcher.find()
            ? { index: matcher.start(), text: matcher.group() ?? '' }
            : undefined;
        },
      ),
  };
}

const isCheap = (bound: WorkBound | undefined, text: string): boolean =>
  bound !== undefined && workFor(bound, text.length) <= NATIVE_BUDGET;

/** RE2 ends lines at \n only; on texts with another line end, `^` and `$` of the `m` flag would answer differently. */
const differsHere = (parsed: ParsedRegex, text: string): boolean =>
  parsed.multiline && /[\r\u2028\u2029]/.test(text);

interface LinearEngine {
  /** Absent when RE2 refuses the pattern, e.g. a repeat above 1000. */
  readonly regex: RE2JS | undefined;
}

function compileLinear(parsed: ParsedRegex, isOnlyEngine: boolean): LinearEngine {
  try {
    return { regex: re2().compile(re2Source(parsed)) };
  } catch (error) {
    if (isOnlyEngine) throw error;
    return { regex: undefined };
  }
}

let loaded: typeof RE2JS | undefined;

// require, not import: compiling is synchronous, and only the rare pattern needs the engine.
function re2(): typeof RE2JS {
  loaded ??= (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
  return loaded;
}
