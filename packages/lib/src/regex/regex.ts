import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { re2Source } from './regex-source.ts';
import { type ParsedRegex, PatternError, parseRegex, type RegexElement } from './regex-syntax.ts';
import { type WorkBound, workBound, workFor } from './regex-work.ts';
import { GUARD_TIMEOUT_MS, runGuarded } from './time-guard.ts';

/** A compiled regular expression with bounded time on any text. */
export interface Regex {
  readonly source: string;
  /**
   * Searches the text. Throws `RegexTimeout` if it could not decide, which is neither a match nor a
   * miss.
   */
  readonly test: (text: string) => boolean;
  /** The first match and its offset, or undefined. Throws `RegexTimeout` like `test`. */
  readonly firstMatch: (
    text: string,
  ) => { readonly index: number; readonly text: string } | undefined;
}

export type RegexResult =
  | { readonly ok: true; readonly regex: Regex }
  | { readonly ok: false; readonly message: string; readonly offset?: number };

/**
 * A pattern with look-around or a backreference ran out of time, so whether it matches is unknown.
 */
export class RegexTimeout extends Error {
  constructor(source: string) {
    super(`the pattern ${source} gave no answer within ${GUARD_TIMEOUT_MS} ms`);
    this.name = 'RegexTimeout';
  }
}

/** Maximum proven steps of a native run: a few milliseconds. */
const NATIVE_BUDGET = 2_000_000;
const CACHE_SIZE = 1_000;
const cache = new Map<string, RegexResult>();

/**
 * Compiles a pattern in JavaScript syntax, translating Python spellings.
 *
 * V8 runs a pattern if its steps on this text are provably few. RE2 (linear time) runs the rest. V8
 * with a time limit runs patterns that RE2 cannot (look-around, backreferences). All read
 * characters as code points.
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

/** Whether the pattern matches every text, like `.*` and `a?`. */
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

/** Whether V8 needs at most linear time, so the pattern needs no guard. */
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
  // Lazy, because most patterns stay on the native path and the engine takes 10 ms to load.
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

/** RE2 ends lines at \n only, so `^` and `$` with the `m` flag differ for other line ends. */
const differsHere = (parsed: ParsedRegex, text: string): boolean =>
  parsed.multiline && /[\r\u2028\u2029]/.test(text);

interface LinearEngine {
  /** Absent if RE2 refuses the pattern, such as a repeat above 1000. */
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

// require instead of import, because compiling is synchronous and few patterns need the engine.
function re2(): typeof RE2JS {
  loaded ??= (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
  return loaded;
}
