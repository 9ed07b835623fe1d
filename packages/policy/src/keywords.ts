import { canonicalJson } from '@agentci/lib/data';
import { compileRegex, matchesEverything, RegexTimeout } from '@agentci/lib/regex';
import type { ValueType } from './constraint.ts';
import { FORMATS } from './formats.ts';
import { shown, unknownHint } from './issue.ts';

/** Describes the problem of a value. Undefined if valid, `unknown` if undecided. */
export type KeywordTest = (value: unknown) => string | undefined | { readonly unknown: string };

export type KeywordResult =
  | {
      readonly ok: true;
      readonly test: KeywordTest;
      readonly decides: boolean;
      readonly warning?: string;
    }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint?: string };

export interface Keyword {
  /** Types that it applies to. Values of other types are ignored. */
  readonly types: readonly ValueType[];
  readonly compile: (written: unknown, name: string) => KeywordResult;
}

const bad = (name: string, expected: string, written: unknown): KeywordResult => ({
  ok: false,
  code: 'POLICY_VALUE',
  message: `"${name}" must be ${expected}, not ${shown(written)}`,
});
const good = (test: KeywordTest, decides = true): KeywordResult => ({ ok: true, test, decides });

type NumberTest = (value: number, limit: number) => string | undefined;
type LengthTest = (length: number, limit: number) => string | undefined;

const bound = (test: NumberTest): Keyword => ({
  types: ['number', 'integer'],
  compile: (limit, name) =>
    typeof limit === 'number' && Number.isFinite(limit)
      ? good((value) => (typeof value === 'number' ? test(value, limit) : undefined))
      : bad(name, 'a number', limit),
});

const length = (
  type: 'string' | 'array',
  measure: (value: never) => number,
  test: LengthTest,
): Keyword => ({
  types: [type],
  compile: (limit, name) => {
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 0)
      return bad(name, 'a whole number of at least 0', limit);
    const isOne = (value: unknown): boolean =>
      type === 'array' ? Array.isArray(value) : typeof value === type;
    return good(
      (value) => (isOne(value) ? test(measure(value as never), limit) : undefined),
      !(limit === 0 && name.startsWith('min')),
    );
  },
});

const min: NumberTest = (value, limit) => (value < limit ? 'Value is below minimum' : undefined);
const max: NumberTest = (value, limit) => (value > limit ? 'Value exceeds maximum' : undefined);
const above: NumberTest = (value, limit) =>
  value <= limit ? 'Value is not above the exclusive minimum' : undefined;
const below: NumberTest = (value, limit) =>
  value >= limit ? 'Value is not below the exclusive maximum' : undefined;

/** Code points, so that an emoji counts as one. */
function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00)
      count--;
  }
  return count;
}

const multipleOf: Keyword = {
  types: ['number', 'integer'],
  compile: (step, name) => {
    if (typeof step !== 'number' || !Number.isFinite(step) || step <= 0)
      return bad(name, 'a number above 0', step);
    return good((value) =>
      typeof value !== 'number' || isMultiple(value, step)
        ? undefined
        : `Value is not a multiple of ${step}`,
    );
  },
};

/**
 * 0.07 is a multiple of 0.01 although 0.07 / 0.01 is 7.000000000000001, so rounding errors are
 * tolerated.
 */
function isMultiple(value: number, step: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(step)) return value % step === 0;
  const quotient = value / step;
  if (!Number.isFinite(quotient)) return false;
  return Math.abs(quotient - Math.round(quotient)) <= 4 * Number.EPSILON * Math.abs(quotient);
}

const enumeration: Keyword = {
  types: [],
  compile: (written, name) => {
    if (!Array.isArray(written) || written.length === 0)
      return bad(name, 'a list with at least one value', written);
    const allowed = membership(written);
    return good((value) => (allowed(value) ? undefined : 'Value is not one of those allowed'));
  },
};

const constant: Keyword = {
  types: [],
  compile: (written) => {
    const allowed = membership([written]);
    return good((value) => (allowed(value) ? undefined : 'Value is not the one allowed'));
  },
};

export function membership(values: readonly unknown[]): (value: unknown) => boolean {
  const plain = new Set<unknown>();
  const nested = new Set<string>();
  for (const value of values) {
    if (typeof value === 'object' && value !== null) nested.add(canonicalJson(value));
    else plain.add(value);
  }
  return (value) =>
    typeof value === 'object' && value !== null
      ? nested.size > 0 && nested.has(canonicalJson(value))
      : plain.has(value);
}

const pattern: Keyword = {
  types: ['string'],
  compile: (written, name) => {
    if (typeof written !== 'string') return bad(name, 'a regular expression', written);
    if (written === '')
      return {
        ok: false,
        code: 'POLICY_CANNOT_FAIL',
        message: '"pattern" is empty, so it matches every text',
      };
    const compiled = compileRegex(written);
    if (!compiled.ok) {
      return {
        ok: false,
        code: 'POLICY_BAD_PATTERN',
        message: `${shown(written)} is not a regular expression: ${compiled.message}`,
      };
    }
    const { regex } = compiled;
    const test: KeywordTest = (value) => {
      if (typeof value !== 'string') return undefined;
      try {
        return regex.test(value) ? undefined : 'Value does not match the pattern';
      } catch (error) {
        if (error instanceof RegexTimeout) return { unknown: error.message };
        throw error;
      }
    };
    return matchesEverything(written)
      ? {
          ok: true,
          test,
          decides: false,
          warning: `the pattern ${shown(written)} matches every text`,
        }
      : good(test);
  },
};

const format: Keyword = {
  types: ['string'],
  compile: (written, name) => {
    if (typeof written !== 'string') return bad(name, 'the name of a format', written);
    const test = FORMATS.get(written);
    if (test === undefined) {
      return {
        ok: false,
        code: 'POLICY_VALUE',
        message: `unknown format ${shown(written)}`,
        hint: unknownHint(written, [...FORMATS.keys()], 'the formats'),
      };
    }
    return good((value) =>
      typeof value !== 'string' || test(value) ? undefined : `Value is not a valid ${written}`,
    );
  },
};

const uniqueItems: Keyword = {
  types: ['array'],
  compile: (written, name) => {
    if (typeof written !== 'boolean') return bad(name, 'true or false', written);
    if (!written) return good(() => undefined, false);
    return good((value) => {
      if (!Array.isArray(value)) return undefined;
      const seen = new Set<unknown>();
      for (const item of value) {
        const key =
          typeof item === 'object' && item !== null ? `json ${canonicalJson(item)}` : item;
        const unique = typeof item === 'string' ? `text ${item}` : key;
        if (seen.has(unique)) return 'Items are not unique';
        seen.add(unique);
      }
      return undefined;
    });
  },
};

/** Keywords on a single value. The compiler handles those with nested schemas. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['min', bound(min)],
  ['minimum', bound(min)],
  ['max', bound(max)],
  ['maximum', bound(max)],
  ['exclusiveMin', bound(above)],
  ['exclusiveMinimum', bound(above)],
  ['exclusiveMax', bound(below)],
  ['exclusiveMaximum', bound(below)],
  ['multipleOf', multipleOf],
  ['enum', enumeration],
  ['const', constant],
  [
    'minLength',
    length('string', characters, (n, limit) => (n < limit ? 'Text is too short' : undefined)),
  ],
  [
    'maxLength',
    length('string', characters, (n, limit) => (n > limit ? 'Text is too long' : undefined)),
  ],
  [
    'minItems',
    length(
      'array',
      (list: unknown[]) => list.length,
      (n, limit) => (n < limit ? 'List is too short' : undefined),
    ),
  ],
  [
    'maxItems',
    length(
      'array',
      (list: unknown[]) => list.length,
      (n, limit) => (n > limit ? 'List is too long' : undefined),
    ),
  ],
  ['pattern', pattern],
  ['format', format],
  ['uniqueItems', uniqueItems],
]);
