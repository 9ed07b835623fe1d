import { compileRegex } from '@agentci/lib/regex';
import { type Infer, v } from '@agentci/lib/values';
import { jsonContains, jsonEqual } from './json-compare.ts';
import { number, shortJson } from './words.ts';

const toleranceSchema = v.union([
  v.number().min(0),
  v
    .strictObject({
      value: v.number(),
      abs: v.number().min(0).optional(),
      rel: v.number().min(0).optional(),
    })
    .refine((t) => t.abs !== undefined || t.rel !== undefined, {
      message: 'tolerance needs abs or rel',
    }),
]);

/** Expectations for one argument. All given keys must hold. */
export const argumentMatcherSchema = v
  .strictObject({
    equals: v.unknown().optional(),
    one_of: v.array(v.unknown()).min(1).optional(),
    oneOf: v.array(v.unknown()).min(1).optional(),
    regex: v.string().optional(),
    tolerance: toleranceSchema.optional(),
    subset: v.unknown().optional(),
    ignore: v.literal(true).optional(),
  })
  .refine((m) => typeof m.tolerance !== 'number' || typeof m.equals === 'number', {
    message:
      'a tolerance that is a number needs a number in equals; else write tolerance: {value, abs} or {value, rel}',
  });

export type ArgumentMatcher = Infer<typeof argumentMatcherSchema>;

export const MATCHER_KEYS = [
  'equals',
  'one_of',
  'oneOf',
  'regex',
  'tolerance',
  'subset',
  'ignore',
] as const;
const KEYS: ReadonlySet<string> = new Set(MATCHER_KEYS);

/** A map with a matcher key is a matcher. Any other value is compared for equality. */
export function isMatcher(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).some((key) => KEYS.has(key))
  );
}

/** Why an argument does not match, or undefined. An absent argument matches only `ignore`. */
export function argumentMismatch(
  asked: unknown,
  args: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  const isAbsent = !Object.hasOwn(args, name);
  const actual = args[name];
  if (!isMatcher(asked)) {
    if (isAbsent) return `${name} is missing`;
    return jsonEqual(actual, asked)
      ? undefined
      : `${name} is ${shortJson(actual)}, not ${shortJson(asked)}`;
  }
  const matcher = asked as ArgumentMatcher;
  if (matcher.ignore === true) return undefined;
  if (isAbsent) return `${name} is missing`;
  const wrong = matcherMismatch(matcher, actual);
  return wrong === undefined ? undefined : `${name} is ${shortJson(actual)}, ${wrong}`;
}

function matcherMismatch(matcher: ArgumentMatcher, actual: unknown): string | undefined {
  const { equals, regex, subset, tolerance } = matcher;
  // Next to a plain tolerance, `equals` is its center.
  if (
    Object.hasOwn(matcher, 'equals') &&
    typeof tolerance !== 'number' &&
    !jsonEqual(actual, equals)
  )
    return `not ${shortJson(equals)}`;
  const options = matcher.one_of ?? matcher.oneOf;
  if (options !== undefined && !options.some((option) => jsonEqual(actual, option)))
    return `not one of ${shortJson(options)}`;
  if (regex !== undefined && !matchesRegex(regex, actual)) return `not found by /${regex}/`;
  if (tolerance !== undefined) {
    const wrong = toleranceMismatch(tolerance, equals, actual);
    if (wrong !== undefined) return wrong;
  }
  if (Object.hasOwn(matcher, 'subset') && !jsonContains(actual, subset))
    return `without ${shortJson(subset)}`;
  return undefined;
}

function matchesRegex(pattern: string, actual: unknown): boolean {
  if (typeof actual !== 'string' && typeof actual !== 'number' && typeof actual !== 'boolean')
    return false;
  const compiled = compileRegex(pattern);
  if (!compiled.ok) throw new Error(`the pattern ${pattern} does not compile: ${compiled.message}`);
  return compiled.regex.test(String(actual));
}

function toleranceMismatch(
  tolerance: NonNullable<ArgumentMatcher['tolerance']>,
  equals: unknown,
  actual: unknown,
): string | undefined {
  const middle = typeof tolerance === 'number' ? (equals as number) : tolerance.value;
  const allowed =
    typeof tolerance === 'number'
      ? tolerance
      : Math.max(tolerance.abs ?? 0, (tolerance.rel ?? 0) * Math.abs(middle));
  const asked = `not within ${number(allowed)} of ${number(middle)}`;
  if (typeof actual !== 'number') return asked;
  // Allows for rounding errors: 10.1 is within 0.1 of 10.
  return Math.abs(actual - middle) <= allowed + 1e-9 * Math.max(1, Math.abs(middle))
    ? undefined
    : asked;
}
