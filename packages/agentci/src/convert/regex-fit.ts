import { compileRegex } from '../kit/regex.ts';
import { parseRegex, type RegexNode, type SetItem } from '../kit/regex-syntax.ts';

/** Whether a pattern means the same here as in the tool it comes from. */
export type PatternFit = { readonly verdict: 'exact' } | { readonly verdict: 'close' | 'none'; readonly why: string };

const ASTRAL = 0x10000;

/** A pattern of JavaScript without flags: what it means with characters outside the first plane, and spellings only we read. */
export function javascriptFit(pattern: string): PatternFit {
  try {
    new RegExp(pattern);
  } catch {
    return { verdict: 'none', why: 'the pattern does not compile in JavaScript, so the assertion always fails there' };
  }
  return compare(pattern, 'code points here, UTF-16 units there', /\\[AZ]|\\u\{|\\p\{|\\P\{|\\k</);
}

/** A pattern of Python's `re`: characters are code points there too. */
export function pythonFit(pattern: string): PatternFit {
  return compare(pattern, undefined, /\(\?[aLux]|\(\?\(|\\N\{|\(\?[#>]|[*+?}]\+|\\[wdsbWDSB]/);
}

function compare(pattern: string, units: string | undefined, different: RegExp): PatternFit {
  const compiled = compileRegex(pattern);
  if (!compiled.ok) return { verdict: 'none', why: `the pattern is not read here: ${compiled.message}` };
  const found = different.exec(pattern);
  if (found !== null) return { verdict: 'close', why: `"${found[0]}" in the pattern may mean something else here` };
  if (units !== undefined && countsCharacters(parseRegex(pattern).root))
    return { verdict: 'close', why: `the pattern counts characters: ${units}, which differ for emoji` };
  return { verdict: 'exact' };
}

/** Whether one character more or less could decide: a dot or a negated set that is not repeated without end. */
function countsCharacters(node: RegexNode, isRepeated = false): boolean {
  switch (node.t) {
    case 'any':
      return !isRepeated;
    case 'char':
      return node.code >= ASTRAL && isRepeated;
    case 'set':
      return (!isRepeated && (node.negated || node.items.some(isWide))) || node.items.some(isAstral);
    case 'repeat':
      return countsCharacters(node.body, isBare(node.body) && node.min <= 1 && node.max === Number.POSITIVE_INFINITY);
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

const isBare = (node: RegexNode): boolean => node.t === 'any' || node.t === 'set' || node.t === 'char';
const isWide = (item: SetItem): boolean => ('letter' in item ? /[DWS]/.test(item.letter) : !('lo' in item));
const isAstral = (item: SetItem): boolean => 'lo' in item && item.hi >= ASTRAL;
