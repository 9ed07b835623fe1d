import { isObject } from '../data/object.ts';
import { compileRegex } from '../regex/regex.ts';

/** A problem in a schema, with its JSON pointer. */
export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

export type SchemaDraft = '4' | '7' | '2019-09' | '2020-12';

/** Keywords whose value is a schema, or a list or map of schemas. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
export const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'prefixItems',
]);
export const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** The direct subschemas of a schema, with their paths. */
export function* subschemas(schema: object): Generator<readonly [(string | number)[], unknown]> {
  for (const [keyword, value] of Object.entries(schema)) {
    const isMap = SCHEMA_MAP_KEYWORDS.has(keyword) || keyword === 'dependencies';
    const isList = SCHEMA_LIST_KEYWORDS.has(keyword) || keyword === 'items';
    if (isMap) {
      for (const [key, part] of Object.entries((value as object | null) ?? {}))
        yield [[keyword, key], part];
    } else if (isList && Array.isArray(value)) {
      for (const [i, part] of value.entries()) yield [[keyword, i], part];
    } else if (keyword === 'items' || SCHEMA_KEYWORDS.has(keyword)) {
      yield [[keyword], value];
    }
  }
}

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);
const MAX_DEPTH = 200;
const MAX_SCHEMAS = 20_000;

const isStringList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

type Rule = readonly [test: (value: unknown) => boolean, expected: string];
const COUNT: Rule = [isCount, 'a whole number of at least 0'];
const NUMBER: Rule = [isNumber, 'a number'];
const TEXT: Rule = [(value) => typeof value === 'string', 'a text'];
const FLAG: Rule = [(value) => typeof value === 'boolean', 'true or false'];

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    'type',
    [isType, 'one of array, boolean, integer, null, number, object, string, or a list of them'],
  ],
  ['enum', [(value) => Array.isArray(value) && value.length > 0, 'a list with at least one value']],
  ['multipleOf', [(value) => isNumber(value) && (value as number) > 0, 'a number above 0']],
  ['required', [isStringList, 'a list of property names']],
  ['uniqueItems', FLAG],
  ['minimum', NUMBER],
  ['maximum', NUMBER],
  ['pattern', [isPattern, 'a regular expression']],
  ['format', TEXT],
  ['$ref', TEXT],
  ['$id', TEXT],
  ['$anchor', TEXT],
  ['$comment', TEXT],
  ['title', TEXT],
  ['description', TEXT],
  ...[
    'maxLength',
    'minLength',
    'maxItems',
    'minItems',
    'maxProperties',
    'minProperties',
    'maxContains',
    'minContains',
  ].map((keyword): [string, Rule] => [keyword, COUNT]),
]);

function isType(value: unknown): boolean {
  if (!Array.isArray(value)) return TYPES.has(value);
  return (
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((item) => TYPES.has(item))
  );
}

function isPattern(value: unknown): boolean {
  return typeof value === 'string' && (compilesNatively(value) || compileRegex(value).ok);
}

/**
 * The validator compiles patterns with the `u` flag, which rejects harmless escapes such as `\-`.
 */
export function compilesNatively(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Finds the first reason that a value is not a JSON Schema of the draft. */
export function findSchemaProblem(root: unknown, draft: SchemaDraft): SchemaProblem | undefined {
  let seen = 0;
  const visit = (schema: unknown, path: string, depth: number): SchemaProblem | undefined => {
    if (typeof schema === 'boolean')
      return draft === '4' ? { path, message: 'a schema of draft 4 must be an object' } : undefined;
    if (!isObject(schema)) return { path, message: 'a schema must be an object, true or false' };
    if (depth > MAX_DEPTH)
      return { path, message: `the schema is nested more than ${MAX_DEPTH} deep` };
    if (++seen > MAX_SCHEMAS)
      return { path, message: `the schema has more than ${MAX_SCHEMAS} parts` };
    for (const [keyword, value] of Object.entries(schema)) {
      const problem = visitKeyword(keyword, value, `${path}/${escapePointer(keyword)}`, depth);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  const visitAll = (
    entries: Iterable<[string | number, unknown]>,
    path: string,
    depth: number,
  ): SchemaProblem | undefined => {
    for (const [key, value] of entries) {
      const problem = visit(value, `${path}/${escapePointer(String(key))}`, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  const visitKeyword = (
    keyword: string,
    value: unknown,
    path: string,
    depth: number,
  ): SchemaProblem | undefined => {
    const rule = RULES.get(keyword);
    if (rule !== undefined)
      return rule[0](value) ? undefined : { path, message: `${keyword} must be ${rule[1]}` };
    if (keyword === '$dynamicRef' || keyword === '$dynamicAnchor')
      return { path, message: `${keyword} is not supported; use $ref` };
    if (keyword === 'exclusiveMinimum' || keyword === 'exclusiveMaximum')
      return exclusiveProblem(value, path, keyword, draft);
    if (keyword === 'items' && Array.isArray(value)) {
      if (draft === '2020-12')
        return {
          path,
          message: 'items must be one schema in draft 2020-12; a list is written prefixItems',
        };
      return visitAll(value.entries(), path, depth);
    }
    if (keyword === 'items' || SCHEMA_KEYWORDS.has(keyword)) {
      // Draft 4 allows true and false in exactly these two positions.
      const isDraft4Flag =
        draft === '4' && typeof value === 'boolean' && keyword.startsWith('additional');
      return isDraft4Flag ? undefined : visit(value, path, depth + 1);
    }
    if (SCHEMA_LIST_KEYWORDS.has(keyword)) {
      if (!Array.isArray(value) || value.length === 0)
        return { path, message: `${keyword} must be a list with at least one schema` };
      return visitAll(value.entries(), path, depth);
    }
    if (SCHEMA_MAP_KEYWORDS.has(keyword)) {
      if (!isObject(value)) return { path, message: `${keyword} must be a map of schemas` };
      if (keyword === 'patternProperties') {
        const bad = Object.keys(value).find((pattern) => !isPattern(pattern));
        if (bad !== undefined)
          return {
            path: `${path}/${escapePointer(bad)}`,
            message: `"${bad}" is not a regular expression`,
          };
      }
      return visitAll(Object.entries(value), path, depth);
    }
    if (keyword === 'dependentRequired' || keyword === 'dependencies') {
      if (!isObject(value)) return { path, message: `${keyword} must be a map` };
      const schemas = Object.entries(value).filter(([, item]) => !isStringList(item));
      if (keyword === 'dependentRequired' && schemas.length > 0) {
        return {
          path: `${path}/${escapePointer(schemas[0]![0])}`,
          message: 'dependentRequired must map to lists of property names',
        };
      }
      return visitAll(schemas, path, depth);
    }
    return undefined;
  };
  return visit(root, '', 0);
}

function exclusiveProblem(
  value: unknown,
  path: string,
  keyword: string,
  draft: SchemaDraft,
): SchemaProblem | undefined {
  const [isValid, expected] = draft === '4' ? FLAG : NUMBER;
  return isValid(value) ? undefined : { path, message: `${keyword} must be ${expected}` };
}
