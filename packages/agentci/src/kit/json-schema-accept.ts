import { isObject } from './object.ts';
import { isLinearInV8 } from './regex.ts';

/** True: the value is valid. False: it may not be, ask the validator, which also says why. */
export type Accept = (value: unknown) => boolean;

type Schema = Readonly<Record<string, unknown>>;

const ANNOTATIONS = new Set([
  '$schema',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
]);
const TYPES: Readonly<Record<string, Accept>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => isObject(value),
};

/**
 * A quick yes for plain schemas: most values are valid, and interpreting a schema to find that out costs twenty times as
 * much. Undefined when a keyword is not among the few known here; then only the validator can tell.
 */
export function quickAccept(schema: unknown): Accept | undefined {
  if (schema === true) return () => true;
  if (!isObject(schema)) return undefined;
  const tests: Accept[] = [];
  for (const keyword of Object.keys(schema)) {
    if (ANNOTATIONS.has(keyword)) continue;
    const test = Object.hasOwn(KEYWORDS, keyword)
      ? KEYWORDS[keyword]!(schema[keyword], schema)
      : undefined;
    if (test === undefined) return undefined;
    tests.push(test);
  }
  return (value) => {
    for (const test of tests) if (!test(value)) return false;
    return true;
  };
}

const isPrimitive = (value: unknown): boolean => value === null || typeof value !== 'object';

/** A bound on one kind of value; values of other kinds are not its business. */
const bound =
  (kind: 'string' | 'number', holds: (value: never, limit: number) => boolean) =>
  (limit: unknown): Accept | undefined =>
    typeof limit === 'number'
      ? (value) => typeof value !== kind || holds(value as never, limit)
      : undefined;

const KEYWORDS: Readonly<Record<string, (value: unknown, schema: Schema) => Accept | undefined>> = {
  type: (types) => {
    const tests = (Array.isArray(types) ? types : [types]).map((type) => TYPES[String(type)]);
    return tests.includes(undefined) ? undefined : (value) => tests.some((test) => test!(value));
  },
  enum: (values) => {
    if (!Array.isArray(values) || !values.every(isPrimitive)) return undefined;
    const known = new Set(values);
    return (value) => known.has(value);
  },
  const: (wanted) => (isPrimitive(wanted) ? (value) => value === wanted : undefined),
  // A character takes one or two units, so most texts need not be counted.
  minLength: bound(
    'string',
    (value: string, limit) => value.length >= 2 * limit || [...value].length >= limit,
  ),
  maxLength: bound(
    'string',
    (value: string, limit) => value.length <= limit || [...value].length <= limit,
  ),
  minimum: bound('number', (value: number, limit) => value >= limit),
  maximum: bound('number', (value: number, limit) => value <= limit),
  pattern: (pattern) => {
    if (typeof pattern !== 'string' || !isLinearInV8(pattern)) return undefined;
    const regex = new RegExp(pattern, 'u');
    return (value) => typeof value !== 'string' || regex.test(value);
  },
  required: (names) => {
    if (!Array.isArray(names)) return undefined;
    return (value) => !isObject(value) || names.every((name) => Object.hasOwn(value, name));
  },
  properties: (properties) => {
    if (!isObject(properties)) return undefined;
    const tests = Object.entries(properties).map(
      ([name, schema]) => [name, quickAccept(schema)] as const,
    );
    if (tests.some(([, test]) => test === undefined)) return undefined;
    return (value) => {
      if (!isObject(value)) return true;
      for (const [name, test] of tests)
        if (Object.hasOwn(value, name) && !test!(value[name])) return false;
      return true;
    };
  },
  additionalProperties: (allowed, schema) => {
    if (allowed === true) return () => true;
    if (allowed !== false || 'patternProperties' in schema) return undefined;
    const names = isObject(schema.properties) ? schema.properties : {};
    return (value) =>
      !isObject(value) || Object.keys(value).every((name) => Object.hasOwn(names, name));
  },
  items: (schema) => {
    const test = quickAccept(schema);
    return test && ((value) => !Array.isArray(value) || value.every(test));
  },
};
