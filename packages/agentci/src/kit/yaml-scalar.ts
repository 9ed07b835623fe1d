import type { YamlScalarValue } from './yaml-node.ts';

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

/** What a plain scalar means in the YAML 1.2 core schema: `yes`, `on` and `2026-01-01` stay text. */
export function resolvePlain(text: string): YamlScalarValue {
  // Most scalars are ordinary words: one look at the first character settles them.
  if (isWordStart(text.charCodeAt(0))) return text;
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
  }
  return resolveNumber(text) ?? text;
}

/** A letter that starts neither a number nor one of the core words (null, true, false). */
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

/** The core type a tag names (`!!int`), or undefined for a tag of someone else. */
export function coreTag(tag: string): CoreTag | undefined {
  return CORE_TAG.exec(tag)?.[1] as CoreTag | undefined;
}

/** The value of a scalar with an explicit core tag, or undefined when the text does not fit the tag. */
export function resolveTagged(text: string, tag: CoreTag): YamlScalarValue | undefined {
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
