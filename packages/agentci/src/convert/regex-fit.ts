import { compileRegex } from '../kit/regex.ts';
import { parseRegex, type RegexNode, type SetItem } from '../kit/regex-syntax.ts';

/** Whether a pattern means the same here as in the tool it comes from. */
export type PatternFit = { readonly verdict: 'exact' } | { readonly verdict: 'close' | 'none'; readonly why: string };

const ASTRAL = 0x10000;

/** What our engine reads in another way: `\A` is an A in JavaScript, and `\u{…}` needs a flag there. */
const OTHERWISE = /\\[AZ]|\\u\{|\\p\{|\\P\{|\\k</;

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
    return { verdict: 'none', why: 'the pattern does not compile in JavaScript, so the assertion always fails there' };
  }
  const compiled = compileRegex(pattern);
  if (!compiled.ok) return { verdict: 'none', why: `the pattern is not read here: ${compiled.message}` };
  const found = OTHERWISE.exec(pattern);
  if (found !== null) return { verdict: 'close', why: `"${found[0]}" in the pattern may mean something else here` };
  return countsCharacters(parseRegex(pattern).root)
    ? { verdict: 'close', why: 'the pattern counts characters: an emoji is one here, and two there' }
    : { verdict: 'exact' };
}

/** Whether one character more or less could decide: a dot or a negated set that is not repeated without end. */
function countsCharacters(node: RegexNode, isRepeated = false): boolean {
  switch (node.t) {
    case 'any':
      return !isRepeated;
    case 'set':
      return (!isRepeated && (node.negated || node.items.some(isWide))) || node.items.some(isAstral);
    case 'repeat':
      // Without its flag, JavaScript repeats the second half of such a character.
      if (node.body.t === 'char' && node.body.code >= ASTRAL) return true;
      return countsCharacters(
        node.body,
        (node.body.t === 'any' || node.body.t === 'set') && node.min <= 1 && node.max === Number.POSITIVE_INFINITY,
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

const isWide = (item: SetItem): boolean => ('letter' in item ? /[DWS]/.test(item.letter) : !('lo' in item));
const isAstral = (item: SetItem): boolean => 'lo' in item && item.hi >= ASTRAL;
