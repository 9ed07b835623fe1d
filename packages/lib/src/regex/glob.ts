import { visibleName } from '../text/visible-text.ts';

/** Whether a whole name matches. */
export type GlobMatcher = (name: string) => boolean;

type GlobToken =
  | { readonly star: true }
  | { readonly star: false; readonly accepts: (char: string) => boolean };

/**
 * Compiles a glob: `*` is any run of characters, `?` one character, `[abc]`, `[a-z]` and `[!abc]`
 * one of a set. An unclosed `[` is literal. Compares visible text, case-sensitively. Uses no
 * regular expression, so no name can make it slow.
 */
export function compileGlob(written: string): GlobMatcher {
  const pattern = visibleName(written);
  if (!isGlob(pattern)) return (name) => visibleName(name) === pattern;
  if (pattern === '*') return () => true;
  const tokens = tokenize(Array.from(pattern));
  return (name) => matches(tokens, Array.from(visibleName(name)));
}

/** Whether a pattern has wildcards. */
export const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern);

function tokenize(chars: readonly string[]): GlobToken[] {
  const tokens: GlobToken[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === '*') {
      if (tokens.at(-1)?.star !== true) tokens.push({ star: true });
    } else if (char === '?') {
      tokens.push({ star: false, accepts: () => true });
    } else {
      const close = char === '[' ? closingBracket(chars, i) : -1;
      if (close === -1) {
        tokens.push({ star: false, accepts: (c) => c === char });
      } else {
        tokens.push({ star: false, accepts: setMatcher(chars.slice(i + 1, close)) });
        i = close;
      }
    }
  }
  return tokens;
}

/** A `]` right after the opening (or its `!`) belongs to the set. */
function closingBracket(chars: readonly string[], open: number): number {
  const first = chars[open + 1] === '!' || chars[open + 1] === '^' ? open + 2 : open + 1;
  return chars.indexOf(']', first + 1);
}

function setMatcher(body: readonly string[]): (char: string) => boolean {
  const isNegated = body[0] === '!' || body[0] === '^';
  const chars = isNegated ? body.slice(1) : body;
  const ranges: [number, number][] = [];
  for (let i = 0; i < chars.length; i++) {
    const lo = chars[i]!.codePointAt(0)!;
    const isRange = chars[i + 1] === '-' && i + 2 < chars.length;
    ranges.push([lo, isRange ? chars[i + 2]!.codePointAt(0)! : lo]);
    if (isRange) i += 2;
  }
  return (char) => {
    const code = char.codePointAt(0)!;
    return ranges.some(([lo, hi]) => lo <= code && code <= hi) !== isNegated;
  };
}

/**
 * Only the last star ever needs backtracking, because the part before it already matched at its
 * first position. The work is at most the product of both lengths.
 */
function matches(tokens: readonly GlobToken[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let lastStar = -1;
  let starAt = 0;
  while (at < name.length) {
    const current = tokens[token];
    if (current !== undefined && !current.star && current.accepts(name[at]!)) {
      token++;
      at++;
    } else if (current?.star) {
      lastStar = token++;
      starAt = at;
    } else if (lastStar !== -1) {
      token = lastStar + 1;
      at = ++starAt;
    } else {
      return false;
    }
  }
  while (tokens[token]?.star) token++;
  return token === tokens.length;
}
