import { compileRegex, parseRegex, type RegexElement } from '@agentci/lib/regex';
import type { AST } from '@eslint-community/regexpp';

/** Whether a pattern means the same here as in its source tool, and its form here. */
export type PatternFit =
  | { readonly verdict: 'exact'; readonly pattern: string }
  | { readonly verdict: 'close'; readonly pattern: string; readonly why: string }
  | { readonly verdict: 'none'; readonly why: string };

const ASTRAL = 0x10000;

/**
 * Checks a JavaScript pattern without flags: characters outside the BMP, and syntax that only our
 * engine supports.
 */
export function javascriptFit(pattern: string): PatternFit {
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
  return parseRegex(text).options.some(countsCharacters)
    ? {
        verdict: 'close',
        pattern: text,
        why: 'the pattern counts characters: an emoji is one here, and two there',
      }
    : { verdict: 'exact', pattern: text };
}

/**
 * Without the flag, an unknown escape in JavaScript is the letter itself: `\A` is an A, and `\u{2}`
 * is "uu".
 */
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
    // Octal numbers, and escapes that depend on the rest of the pattern.
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

/**
 * Whether the number of characters could decide: a dot or a negated set without unlimited
 * repetition.
 */
const countsCharacters = (option: { readonly elements: readonly RegexElement[] }): boolean =>
  option.elements.some((node) => {
    if (node.type !== 'Quantifier') return isCounted(node, false);
    // Without its flag, JavaScript repeats only the second half of a surrogate pair.
    if (node.element.type === 'Character' && node.element.value >= ASTRAL) return true;
    return isCounted(node.element, node.min <= 1 && node.max === Infinity);
  });

function isCounted(node: RegexElement, isRepeated: boolean): boolean {
  switch (node.type) {
    case 'Character':
      return isSurrogate(node.value, node.value);
    case 'CharacterSet':
      return !isRepeated && isWide(node);
    case 'CharacterClass':
      return (
        (!isRepeated && (node.negate || node.elements.some(isWide))) || node.elements.some(isAstral)
      );
    default:
      return 'alternatives' in node && node.alternatives.some(countsCharacters);
  }
}

type SetItem = AST.CharacterClassElement | AST.CharacterSet;
const isWide = (item: SetItem): boolean =>
  item.type === 'CharacterSet' && (item.kind === 'any' || item.kind === 'property' || item.negate);
const isAstral = (item: SetItem): boolean => {
  if (item.type === 'CharacterClassRange')
    return item.max.value >= ASTRAL || isSurrogate(item.min.value, item.max.value);
  return item.type === 'Character' && (item.value >= ASTRAL || isSurrogate(item.value, item.value));
};
/** Half of a surrogate pair. JavaScript finds it in a pair, our engine never does. */
const isSurrogate = (lo: number, hi: number): boolean => hi >= 0xd800 && lo <= 0xdfff;
