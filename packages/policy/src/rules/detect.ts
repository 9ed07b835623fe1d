import { present } from '@agentci/lib/data';
import { compileRegex, type Regex, RegexTimeout } from '@agentci/lib/regex';
import { findInternational, findPii, PII_TYPES, type PiiType, SECRETS } from '@agentci/lib/secrets';
import { visibleText } from '@agentci/lib/text';
import { answersAt, sentAt } from '../call-texts.ts';
import { type CallsInSight, CannotTell, type Condition } from '../condition-type.ts';
import { leavesOf } from '../flows/carried-text.ts';
import { pathParts } from '../value-path.ts';
import { definePerCallRule } from './per-call-rule.ts';
import type { FieldResult } from './rule.ts';

/** Maximum number of characters to search. */
const MAX_LENGTH = 1_000_000;
/**
 * Two capitalized words are often not a person, so names must be requested explicitly. Keys are
 * `secrets`.
 */
const USUAL: readonly PiiType[] = PII_TYPES.filter(
  (type) => type !== 'name' && type !== 'api_key' && type !== 'ip_address',
);
const SURE = 0.5;
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/;

type Where = 'arguments' | 'result';

function readPii(value: unknown): FieldResult {
  if (value === true) return { ok: true, value: USUAL };
  const types = Array.isArray(value) ? value : [value];
  const unknown = types.find((type) => !PII_TYPES.includes(type as PiiType));
  if (types.length > 0 && unknown === undefined) return { ok: true, value: types };
  return {
    ok: false,
    code: 'POLICY_VALUE',
    message: `"pii" must be true or a list of ${PII_TYPES.join(', ')}`,
  };
}

function readPattern(value: unknown): FieldResult {
  const compiled = typeof value === 'string' && value !== '' ? compileRegex(value) : undefined;
  if (compiled?.ok) return { ok: true, value: compiled.regex };
  const why = compiled === undefined ? '' : `: ${compiled.message}`;
  return {
    ok: false,
    code: 'POLICY_BAD_PATTERN',
    message: `"pattern" is not a regular expression${why}`,
  };
}

function readWhere(value: unknown): FieldResult {
  return value === 'arguments' || value === 'result'
    ? { ok: true, value }
    : { ok: false, code: 'POLICY_VALUE', message: '"in" must be arguments or result' };
}

function readPath(value: unknown): FieldResult {
  const parts = typeof value === 'string' ? pathParts(value) : undefined;
  return parts === undefined
    ? { ok: false, message: '"path" must be a path such as body or items.*.text' }
    : { ok: true, value: parts };
}

interface Values {
  readonly in: unknown;
  readonly path: unknown;
  readonly pii: unknown;
  readonly secrets: boolean | undefined;
  readonly pattern: unknown;
  readonly max_size: number | undefined;
}

export const rule = definePerCallRule({
  type: 'detect',
  summary:
    'Arguments (or results) must not hold personal data (`pii`), `secrets`, what a `pattern` finds, or more bytes than `max_size`.',
  fields: {
    in: { kind: 'value', read: readWhere },
    path: { kind: 'value', read: readPath },
    pii: { kind: 'value', read: readPii },
    secrets: { kind: 'flag' },
    pattern: { kind: 'value', read: readPattern },
    max_size: { kind: 'count', least: 1 },
  },
  inspect: ({ pii, secrets, pattern, max_size }) =>
    pii === undefined && secrets !== true && pattern === undefined && max_size === undefined
      ? 'it needs "pii", "secrets", "pattern" or "max_size"'
      : undefined,
  operands: (values) => wordsFor(values, ','),
  expected: (values) => `no ${wordsFor(values, ' or ')}`,
  hits: (values): Condition => {
    const where = (values.in ?? 'arguments') as Where;
    return {
      label: '',
      needsResult: where === 'result',
      looksAtResults: where === 'result',
      test: (calls, at) => find(values, where, calls, at),
    };
  },
});

function wordsFor(
  { in: where, path, pii, secrets, pattern, max_size }: Values,
  between: string,
): string {
  const parts = present([
    pii === undefined ? undefined : (pii as string[]).join('/'),
    secrets === true ? 'secrets' : undefined,
    pattern === undefined ? undefined : `/${(pattern as Regex).source}/`,
    max_size === undefined ? undefined : `more than ${max_size} bytes`,
  ]);
  const inside = path === undefined ? '' : ` ${(path as string[]).join('.')}`;
  return `${parts.join(between)} in ${String(where ?? 'arguments')}${inside}`;
}

function find(values: Values, where: Where, calls: CallsInSight, at: number): boolean | CannotTell {
  const look = where === 'result' ? answersAt : sentAt;
  const found = look(calls, at, (values.path ?? []) as string[]);
  if (found instanceof CannotTell || found.length === 0)
    return found instanceof CannotTell ? found : false;
  const { max_size } = values;
  // Parts usually repeat the same content, so each is measured separately.
  if (max_size !== undefined && found.some((part) => sizeOf(part) > max_size)) return true;
  try {
    const leaves = leavesOf(found);
    if (leaves === undefined || leaves.reduce((sum, { length }) => sum + length, 0) > MAX_LENGTH)
      return new CannotTell(
        `the ${where} of call ${at + 1} (${calls.calls[at]!.name}) are too long to look through`,
      );
    return leaves.some((leaf) => isFound(leaf, values));
  } catch (error) {
    if (error instanceof RegexTimeout) return new CannotTell(error.message);
    throw error;
  }
}

const sizeOf = (found: readonly unknown[]): number =>
  found.reduce<number>(
    (sum, each) => sum + Buffer.byteLength(typeof each === 'string' ? each : JSON.stringify(each)),
    0,
  );

function isFound(text: string, { pii, secrets, pattern }: Values): boolean {
  const seen = visibleText(text);
  if (
    pattern !== undefined &&
    ((pattern as Regex).test(text) || (seen !== text && (pattern as Regex).test(seen)))
  )
    return true;
  if (secrets === true && (PRIVATE_KEY.test(text) || SECRETS.value(text, () => {}) !== text))
    return true;
  const wanted = present([
    ...((pii as readonly PiiType[] | undefined) ?? []),
    secrets === true ? ('api_key' as const) : undefined,
  ]);
  if (wanted.length === 0) return false;
  const names = wanted.includes('name') ? 'pattern' : 'off';
  return findPii(seen, { names, known: findInternational(seen) }).some(
    ({ type, confidence }) => confidence >= SURE && wanted.includes(type),
  );
}
