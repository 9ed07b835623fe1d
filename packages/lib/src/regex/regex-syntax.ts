import { type AST, RegExpParser, RegExpSyntaxError } from '@eslint-community/regexpp';

export type RegexElement = AST.Element;

/** A parsed pattern. */
export interface ParsedRegex {
  /** JavaScript syntax, to be compiled with `flags`. */
  readonly source: string;
  readonly flags: string;
  readonly options: readonly AST.Alternative[];
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  /** Contains `(?i:…)`, which V8 in Node 20 cannot run. */
  readonly hasScopedFlags: boolean;
  /** Contains look-around or a backreference, which no linear-time engine can run. */
  readonly needsBacktracking: boolean;
}

/** An invalid pattern. `offset` is in UTF-16 units. */
export class PatternError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'PatternError';
    this.offset = offset;
  }
}

const MAX_PATTERN = 10_000;
const MAX_NESTING = 200;
const MAX_REPEAT = 100_000;

/** Start of the whole text under the `m` flag. */
const TEXT_START = '(?<![^])';
const TEXT_END = '(?![^])';

const parser = new RegExpParser({ ecmaVersion: 2025 });

/**
 * Parses JavaScript regular expressions (with `u` semantics) and the Python spellings `(?P<n>…)`,
 * `(?P=n)`, `(?#…)`, `\A`, `\Z` and leading flags.
 */
export function parseRegex(pattern: string, flags = ''): ParsedRegex {
  if (pattern.length > MAX_PATTERN)
    throw new PatternError(`the pattern is longer than ${MAX_PATTERN} characters`, MAX_PATTERN);
  const leading = /^(?:\(\?[a-zA-Z]+\))*/.exec(pattern)![0];
  const letters = new Set(flags + leading.replace(/[(?)]/g, ''));
  // Characters are always code points here, and a test keeps no position or indices.
  for (const letter of letters)
    if (!'imsuadgvy'.includes(letter))
      throw new PatternError(
        `the flag "${letter}" is not supported`,
        Math.max(0, leading.indexOf(letter)),
      );
  const multiline = letters.has('m');
  const written = strictSyntax(pattern, leading.length, multiline);
  const offsetOf = (index: number): number => {
    const from = written.starts.findLast(({ out }) => out <= index);
    return from === undefined ? leading.length : from.at;
  };
  try {
    const root = parser.parsePattern(written.source, 0, written.source.length, { unicode: true });
    const facts = { hasScopedFlags: false, needsBacktracking: false };
    inspect(root.alternatives, facts, (node) => {
      const message = `a repeat count above ${MAX_REPEAT} is not supported`;
      throw new PatternError(message, offsetOf(node.start));
    });
    return {
      source: written.source,
      flags: `u${[...'ims'].filter((letter) => letters.has(letter)).join('')}`,
      options: root.alternatives,
      ignoreCase: letters.has('i'),
      multiline,
      dotAll: letters.has('s'),
      ...facts,
    };
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    const message = error.message.slice(error.message.lastIndexOf(': ') + 2);
    throw new PatternError(message[0]!.toLowerCase() + message.slice(1), offsetOf(error.index));
  }
}

/** Whether a node is the start or end of the whole text, under any flags. */
export const isTextEdge = (node: AST.Element): boolean =>
  node.raw === TEXT_START || node.raw === TEXT_END;

function inspect(
  options: readonly AST.Alternative[],
  facts: { hasScopedFlags: boolean; needsBacktracking: boolean },
  onLargeCount: (node: AST.Quantifier) => never,
): void {
  for (const { elements } of options) {
    for (let node of elements) {
      if (node.type === 'Quantifier') {
        if (node.min > MAX_REPEAT || (node.max > MAX_REPEAT && node.max !== Infinity))
          onLargeCount(node);
        node = node.element;
      }
      if (node.type === 'Backreference') facts.needsBacktracking = true;
      if (node.type === 'Group' && node.modifiers !== null) facts.hasScopedFlags = true;
      if (!('alternatives' in node) || isTextEdge(node)) continue;
      if (node.type === 'Assertion') facts.needsBacktracking = true;
      inspect(node.alternatives, facts, onLargeCount);
    }
  }
}

const TOKEN =
  /\(\?[a-zA-Z-]+\)|\(\?P<|\(\?P=[\w$]+\)|\(\?#[^)]*\)|\\[pP](?:\{\^?[\w=]+\}|[A-Z])|\\U[\da-fA-F]{8}|\\u\{[\da-fA-F]+\}|\\.|\{\d+(?:,\d*)?\}|./gsu;

/** Rewrites Python spellings and needless escapes as JavaScript that the `u` flag accepts. */
function strictSyntax(pattern: string, from: number, multiline: boolean) {
  let source = '';
  let depth = 0;
  let isInSet = false;
  const starts: { readonly out: number; readonly at: number }[] = [];
  const tokens = [...pattern.slice(from).matchAll(TOKEN)];
  for (const [i, { 0: token, index }] of tokens.entries()) {
    const at = from + index;
    starts.push({ out: source.length, at });
    if (isInSet) {
      const isClass = (other: number): boolean => /^\\[dDwWsSpP]/.test(tokens[other]?.[0] ?? '');
      if (token === ']') isInSet = false;
      source += token === '-' && (isClass(i - 1) || isClass(i + 1)) ? '\\-' : inSet(token);
      continue;
    }
    if (/^\(\?[a-zA-Z-]+\)$/.test(token))
      throw new PatternError('flags for the whole pattern must come first', at);
    if (token === '[') isInSet = true;
    if (token === ')') depth--;
    if (token[0] === '(' && !token.endsWith(')') && ++depth > MAX_NESTING)
      throw new PatternError(`groups are nested more than ${MAX_NESTING} deep`, at);
    source += outsideSets(token, multiline);
  }
  return { source, starts };
}

function outsideSets(token: string, multiline: boolean): string {
  if (token === '\\A') return multiline ? TEXT_START : '^';
  if (/^\\z$/i.test(token)) return multiline ? TEXT_END : '$';
  if (token === '{' || token === '}' || token === ']') return `\\${token}`;
  if (token === '(?P<') return '(?<';
  // An empty group keeps digits on both sides apart.
  if (token.startsWith('(?#')) return '(?:)';
  if (token.startsWith('(?P=')) return `\\k<${token.slice(4, -1)}>`;
  return token === '\\-' ? '-' : inSet(token);
}

function inSet(token: string): string {
  if (token === '\\a') return '\\x07';
  if (token.startsWith('\\U') && token.length === 10) return `\\u{${token.slice(2)}}`;
  const property = /^\\([pP])(?:\{(\^?)([\w=]+)\}|([A-Z]))$/.exec(token);
  if (property !== null)
    return `\\${(property[1] === 'P') === (property[2] === '^') ? 'p' : 'P'}{${property[3] ?? property[4]}}`;
  // The `u` flag refuses needless escapes such as `\"`.
  return /^\\[^\w^$\\.*+?()[\]{}|/-]$/u.test(token) || token === '\\_' ? token.slice(1) : token;
}
