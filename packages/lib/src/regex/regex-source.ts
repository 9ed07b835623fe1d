import type { AST } from '@eslint-community/regexpp';
import { complement, SPACE } from './char-ranges.ts';
import { isTextEdge, type ParsedRegex } from './regex-syntax.ts';

interface Flags {
  readonly dotAll: boolean;
  readonly multiline: boolean;
}

/**
 * Prints a parsed pattern in RE2 syntax, spelling out sets that RE2 and JavaScript define
 * differently.
 */
export const re2Source = (parsed: ParsedRegex): string =>
  (parsed.ignoreCase ? '(?i)' : '') + choice(parsed.options, parsed);

const choice = (options: readonly AST.Alternative[], flags: Flags): string =>
  options.map(({ elements }) => elements.map((item) => element(item, flags)).join('')).join('|');

function element(node: AST.Element, flags: Flags): string {
  switch (node.type) {
    case 'Character':
      return character(node.value);
    case 'CharacterSet':
      if (node.kind === 'any') return flags.dotAll ? '(?s:.)' : '[^\\n\\r\\x{2028}\\x{2029}]';
      return node.kind === 'space' ? `[${setItem(node)}]` : node.raw;
    case 'CharacterClass': {
      // RE2 has no empty set, but the complement of everything is one.
      if (node.elements.length === 0) return node.negate ? '(?s:.)' : '[^\\x{0}-\\x{10ffff}]';
      return `[${node.negate ? '^' : ''}${node.elements.map((item) => setItem(item as SetItem)).join('')}]`;
    }
    case 'Quantifier': {
      const { min, max } = node;
      return `(?:${element(node.element, flags)}){${min},${max === Infinity ? '' : max}}${node.greedy ? '' : '?'}`;
    }
    case 'CapturingGroup':
      return `(?:${choice(node.alternatives, flags)})`;
    case 'Group': {
      const { add, remove } = node.modifiers ?? {};
      const inside = {
        dotAll: add?.dotAll || (flags.dotAll && !remove?.dotAll),
        multiline: add?.multiline || (flags.multiline && !remove?.multiline),
      };
      const fold = remove?.ignoreCase ? '-i' : '';
      return `(?${add?.ignoreCase ? 'i' : fold}:${choice(node.alternatives, inside)})`;
    }
    case 'Assertion':
      if (node.kind === 'word') return node.raw;
      if (isTextEdge(node)) return node.kind === 'lookbehind' ? '\\A' : '\\z';
      if (node.kind === 'start') return flags.multiline ? '(?m:^)' : '\\A';
      if (node.kind === 'end') return flags.multiline ? '(?m:$)' : '\\z';
  }
  throw new Error('RE2 has no look-around and no backreferences');
}

type SetItem = AST.ClassRangesCharacterClassElement;

function setItem(item: SetItem): string {
  if (item.type === 'Character') return character(item.value);
  if (item.type === 'CharacterClassRange') return range(item.min.value, item.max.value);
  if (item.kind !== 'space') return item.raw;
  return (item.negate ? complement(SPACE) : SPACE).map(([lo, hi]) => range(lo, hi)).join('');
}

const character = (code: number): string => `\\x{${code.toString(16)}}`;
const range = (lo: number, hi: number): string => `${character(lo)}-${character(hi)}`;
