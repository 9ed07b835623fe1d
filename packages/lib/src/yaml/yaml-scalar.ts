import { SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import type { YamlScalar, YamlScalarValue, YamlSource } from './yaml-node.ts';

const INTEGER = /^[-+]?[0-9]+$/;
const OCTAL = /^0o[0-7]+$/;
const HEXADECIMAL = /^0x[0-9a-fA-F]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;

const WORDS = new Map<string, YamlScalarValue>([
  ['', null],
  ['~', null],
  ['null', null],
  ['Null', null],
  ['NULL', null],
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
]);

const LONGEST_WORD = 5;

/**
 * The value of a plain scalar in the YAML 1.2 core schema: `yes`, `on` and `2026-01-01` stay text.
 */
export function resolvePlain(text: string): YamlScalarValue {
  // Fast path: the first character identifies most words.
  if (isWordStart(text.charCodeAt(0))) return text;
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
  }
  return resolveNumber(text) ?? text;
}

/** A letter that starts neither a number nor a core word (null, true, false). */
function isWordStart(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a && lower !== 0x6e && lower !== 0x74 && lower !== 0x66;
}

function resolveNumber(text: string): number | undefined {
  const first = text.charCodeAt(0);
  const mayBeNumber =
    (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  if (!mayBeNumber) return undefined;
  if (INTEGER.test(text) || FLOAT.test(text)) return Number(text);
  if (OCTAL.test(text) || HEXADECIMAL.test(text)) return Number(text);
  if (INFINITE.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return NOT_A_NUMBER.test(text) ? Number.NaN : undefined;
}

const CORE_TAG = /^(?:!!|!<tag:yaml\.org,2002:)(str|null|bool|int|float|map|seq)>?$/;

export type CoreTag = 'str' | 'null' | 'bool' | 'int' | 'float' | 'map' | 'seq';

/** The core type of a tag (`!!int`). Undefined for other tags. */
export function coreTag(tag: string): CoreTag | undefined {
  return CORE_TAG.exec(tag)?.[1] as CoreTag | undefined;
}

/** The value of a scalar with a core tag, or undefined if its text does not fit. */
function resolveTagged(text: string, tag: CoreTag): YamlScalarValue | undefined {
  if (tag === 'str') return text;
  const value = resolvePlain(text);
  switch (tag) {
    case 'null':
      return value === null ? null : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int':
      return Number.isInteger(value) ? value : undefined;
    case 'float':
      return typeof value === 'number' ? value : undefined;
    default:
      return undefined;
  }
}

/** Reports a problem at an offset, and reading continues. */
export type Report = (start: number, code: string, message: string, hint?: string) => void;

/** Context of the composer. */
export interface YamlText {
  readonly source: YamlSource;
  /** Allowed scalar tags besides those of the core schema. */
  readonly tags: ReadonlySet<string>;
  readonly report: Report;
}

const SCALAR_STYLES = {
  [SCALAR_STYLE.PLAIN]: 'plain',
  [SCALAR_STYLE.SINGLE_QUOTED]: 'quoted',
  [SCALAR_STYLE.DOUBLE_QUOTED]: 'quoted',
  [SCALAR_STYLE.LITERAL_BLOCK]: 'block',
  [SCALAR_STYLE.FOLDED_BLOCK]: 'block',
} as const;

/** The node of a scalar, resolved by its tag or, if plain, by its text. */
export function makeScalar(
  event: ScalarEvent,
  value: string,
  start: number,
  of: YamlText,
): YamlScalar {
  const { source } = of;
  const style = SCALAR_STYLES[event.style];
  if (event.tagStart < 0)
    return {
      kind: 'scalar',
      source,
      start,
      style,
      value: style === 'plain' ? resolvePlain(value) : value,
    };
  const base = { kind: 'scalar', source, start, style } as const;
  const tag = source.text.slice(event.tagStart, event.tagEnd);
  if (tag === '!') return { ...base, value };
  if (of.tags.has(tag)) return { ...base, value, tag };
  const core = coreTag(tag);
  const resolved: YamlScalarValue | undefined =
    core === undefined ? undefined : resolveTagged(value, core);
  if (resolved !== undefined) return { ...base, value: resolved };
  if (core === undefined)
    of.report(start, 'YAML_SYNTAX', `the tag ${tag} is not known`, tagHint(of.tags));
  else
    of.report(
      start,
      'YAML_SYNTAX',
      `this value does not fit the tag ${tag}`,
      'leave the tag out, or correct the value',
    );
  return brokenScalar(source, start);
}

/** Placeholder for an unreadable value, so that its surroundings are still read. */
export const brokenScalar = (source: YamlSource, start: number): YamlScalar => ({
  kind: 'scalar',
  value: null,
  style: 'plain',
  source,
  start,
  broken: true,
});

export const tagHint = (tags: ReadonlySet<string>): string =>
  tags.size === 0 ? 'leave the tag out' : `the tags known here: ${[...tags].join(', ')}`;

/** Start of a scalar in the source: its tag, its quote, or the `|` or `>` of a block. */
export function scalarStart(event: ScalarEvent, value: string, text: string): number {
  if (event.tagStart >= 0) return event.tagStart;
  if (event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED)
    return event.valueStart - 1;
  if (event.style === SCALAR_STYLE.PLAIN || value === '') return event.valueStart;
  return blockHeader(text, event.valueStart);
}

/** The `|` or `>` of a block scalar, whose own offset is its first line. */
function blockHeader(text: string, valueStart: number): number {
  const lineEnd = valueStart - 1;
  const lineStart = text.lastIndexOf('\n', lineEnd - 1) + 1;
  const header = /[|>][-+0-9]{0,2}[ \t]*(?:#.*)?\r?$/.exec(text.slice(lineStart, lineEnd));
  return header === null ? valueStart : lineStart + header.index;
}

/** Skips the quote and brackets at the end of a value. */
export function skipClosers(text: string, from: number): number {
  const closers = /[\s\]}"']*/y;
  closers.lastIndex = from;
  closers.test(text);
  return closers.lastIndex;
}

/** The next offset that is neither white space nor comment. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    if (character === 0x23) {
      const lineEnd = text.indexOf('\n', at);
      if (lineEnd < 0) return text.length;
      at = lineEnd;
    } else if (character !== 0x20 && (character < 0x09 || character > 0x0d)) return at;
    at++;
  }
  return at;
}
