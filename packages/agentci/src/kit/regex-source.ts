import { anyRanges, type CharRanges, complement, letterRanges } from './char-ranges.ts';
import type { ParsedRegex, RegexNode, SetItem } from './regex-syntax.ts';

/** Writes a parsed pattern for V8, to be compiled with the `u` flag. */
export function nativeSource(parsed: ParsedRegex): { source: string; flags: string } {
  const flags = `u${parsed.ignoreCase ? 'i' : ''}${parsed.hasLineAnchor ? 'm' : ''}`;
  return {
    source: write(parsed.root, {
      ...NATIVE,
      captures: parsed.hasBackreference,
      lineMode: parsed.hasLineAnchor,
    }),
    flags,
  };
}

/** Writes a parsed pattern in RE2 syntax, spelling out the sets that RE2 and JavaScript understand differently. */
export function re2Source(parsed: ParsedRegex): string {
  const flags = `${parsed.ignoreCase ? 'i' : ''}${parsed.hasLineAnchor ? 'm' : ''}`;
  return `${flags === '' ? '' : `(?${flags})`}${write(parsed.root, { ...RE2, captures: false, lineMode: parsed.hasLineAnchor })}`;
}

interface Dialect {
  readonly native: boolean;
  readonly captures: boolean;
  readonly lineMode: boolean;
}
const NATIVE = { native: true } as const;
const RE2 = { native: false } as const;

function write(node: RegexNode, dialect: Dialect): string {
  switch (node.t) {
    case 'char':
      return character(node.code, dialect);
    case 'any':
      return rangesSet(anyRanges(node.dotAll), dialect);
    case 'set':
      return setSource(node.items, node.negated, dialect);
    case 'assert':
      return assertion(node.kind, dialect);
    case 'group':
      return `${groupOpening(node, dialect)}${write(node.body, dialect)})`;
    case 'look':
      return `(?${node.ahead ? '' : '<'}${node.negated ? '!' : '='}${write(node.body, dialect)})`;
    case 'backref':
      // Wrapped, so that a digit written after it does not become part of the number.
      return typeof node.ref === 'number' ? `(?:\\${node.ref})` : `\\k<${node.ref}>`;
    case 'repeat':
      return `${repeatBody(node.body, dialect)}${count(node.min, node.max)}${node.lazy ? '?' : ''}`;
    case 'seq':
      return node.items
        .map((item) => (item.t === 'alt' ? `(?:${write(item, dialect)})` : write(item, dialect)))
        .join('');
    case 'alt':
      return node.options.map((option) => write(option, dialect)).join('|');
  }
}

function groupOpening(node: RegexNode & { t: 'group' }, dialect: Dialect): string {
  if (node.fold !== undefined && !dialect.native) return node.fold ? '(?i:' : '(?-i:';
  if (!dialect.captures || !node.capture) return '(?:';
  return node.name === undefined ? '(' : `(?<${node.name}>`;
}

function repeatBody(body: RegexNode, dialect: Dialect): string {
  const text = write(body, dialect);
  return body.t === 'char' || body.t === 'any' || body.t === 'set' || body.t === 'group'
    ? text
    : `(?:${text})`;
}

function count(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) {
    if (min === 0) return '*';
    if (min === 1) return '+';
    return `{${min},}`;
  }
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function assertion(kind: (RegexNode & { t: 'assert' })['kind'], dialect: Dialect): string {
  switch (kind) {
    case 'word':
      return '\\b';
    case 'notWord':
      return '\\B';
    case 'lineStart':
      return '^';
    case 'lineEnd':
      return '$';
    case 'textStart':
      if (!dialect.native) return '\\A';
      return dialect.lineMode ? '(?<![^])' : '^';
    case 'textEnd':
      if (!dialect.native) return '\\z';
      return dialect.lineMode ? '(?![^])' : '$';
  }
}

function character(code: number, dialect: Dialect): string {
  const isPlain =
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a);
  if (isPlain) return String.fromCharCode(code);
  return dialect.native ? `\\u{${code.toString(16)}}` : `\\x{${code.toString(16)}}`;
}

const range = ([lo, hi]: readonly [number, number], dialect: Dialect): string =>
  lo === hi ? character(lo, dialect) : `${character(lo, dialect)}-${character(hi, dialect)}`;

const rangesBody = (ranges: CharRanges, dialect: Dialect): string =>
  ranges.map((r) => range(r, dialect)).join('');
const rangesSet = (ranges: CharRanges, dialect: Dialect): string =>
  `[${rangesBody(ranges, dialect)}]`;

function setSource(items: readonly SetItem[], negated: boolean, dialect: Dialect): string {
  // RE2 has no empty set: the opposite of everything says the same.
  if (items.length === 0)
    return rangesSet(negated ? [[0, 0x10ffff]] : complement([]), dialect).replace(
      '[',
      negated ? '[' : '[^',
    );
  return `[${negated ? '^' : ''}${items.map((item) => itemSource(item, dialect)).join('')}]`;
}

function itemSource(item: SetItem, dialect: Dialect): string {
  if ('lo' in item) return range([item.lo, item.hi], dialect);
  if ('property' in item) return `\\${item.negated ? 'P' : 'p'}{${item.property}}`;
  return rangesBody(letterRanges(item.letter), dialect);
}
