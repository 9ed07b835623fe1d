import { compileRegex } from '../kit/regex.ts';
import { parseRegex, type RegexNode, type SetItem } from '../kit/regex-syntax.ts';

/** Whether a pattern means the same here as in the tool it comes from, and how it is written here. */
export type PatternFit =
  | { readonly verdict: 'exact'; readonly pattern: string }
  | { readonly verdict: 'close'; readonly pattern: string; readonly why: string }
  | { readonly verdict: 'none'; readonly why: string };

const ASTRAL = 0x10000;

/** Patterns are often the same in many cases. */
const known = new Map<string, PatternFit>();
const MAX_KNOWN = 1000;

/** A pattern of JavaScript without flags: what it means with characters outside the first plane, and spellings only we read. */
export function javascriptFit(pattern: string): PatternFit {
  const fit = known.get(pattern) ?? compare(pattern);
  if (known.size < MAX_KNOWN) known.set(pattern, fit);
  return fit;
}

function compare(pattern: string): PatternFit {
  try {
    new RegExp(pattern);
  } catch {
    return {
      verdict: 'none',
      why: 'the pattern does not compile in JavaScript, so the assertion always fails there',
    };
  }
  const { text, odd } = withoutIdentityEscapes(pattern);
  const compiled = compileRegex(text);
  if (!compiled.ok)
    return { verdict: 'none', why: `the pattern is not read here: ${compiled.message}` };
  if (odd !== undefined)
    return {
      verdict: 'close',
      pattern: text,
      why: `"${odd}" in the pattern may mean something else here`,
    };
  return countsCharacters(parseRegex(text).root)
    ? {
        verdict: 'close',
        pattern: text,
        why: 'the pattern counts characters: an emoji is one here, and two there',
      }
    : { verdict: 'exact', pattern: text };
}

/** Without a flag, an escape that JavaScript does not know is the letter itself: `\A` is an A, and `\u{2}` is "uu". */
function withoutIdentityEscapes(pattern: string): { readonly text: string; readonly odd?: string } {
  let text = '';
  let odd: string | undefined;
  let isInSet = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char !== '\\') {
      if (char === '[') isInSet = true;
      else if (char === ']') isInSet = false;
      text += char;
      continue;
    }
    const rest = pattern.slice(at, at + 6);
    const letter = rest[1] ?? '';
    // Octal numbers, and escapes that depend on what else is in the pattern.
    if (/^\\(?:0\d|k|c(?![A-Za-z]))/.test(rest) || (isInSet && /^\\[1-9c]/.test(rest)))
      odd ??= rest.slice(0, 3);
    const isKnown =
      /^\\(?:[^A-Za-z]|[dDwWsSbtnvfrck]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})/.test(rest) ||
      letter === '' ||
      (letter === 'B' && !isInSet);
    text += isKnown ? `\\${letter}` : letter;
    at++;
  }
  return odd === undefined ? { text } : { text, odd };
}

/** Whether one character more or less could decide: a dot or a negated set that is not repeated without end. */
function countsCharacters(node: RegexNode, isRepeated = false): boolean {
  switch (node.t) {
    case 'char':
      return isSurrogate(node.code, node.code);
    case 'any':
      return !isRepeated;
    case 'set':
      return (
        (!isRepeated && (node.negated || node.items.some(isWide))) || node.items.some(isAstral)
      );
    case 'repeat':
      // Without its flag, JavaScript repeats the second half of such a character.
      if (node.body.t === 'char' && node.body.code >= ASTRAL) return true;
      return countsCharacters(
        node.body,
        (node.body.t === 'any' || node.body.t === 'set') &&
          node.min <= 1 &&
          node.max === Number.POSITIVE_INFINITY,
      );
    case 'group':
    case 'look':
      return countsCharacters(node.body);
    case 'seq':
      return node.items.some((item) => countsCharacters(item));
    case 'alt':
      return node.options.some((option) => countsCharacters(option));
    default:
      return false;
  }
}

const isWide = (item: SetItem): boolean =>
  'letter' in item ? /[DWS]/.test(item.letter) : !('lo' in item);
const isAstral = (item: SetItem): boolean =>
  'lo' in item && (item.hi >= ASTRAL || isSurrogate(item.lo, item.hi));
/** Half of such a character: it is found in a whole one there, and never here. */
const isSurrogate = (lo: number, hi: number): boolean => hi >= 0xd800 && lo <= 0xdfff;
