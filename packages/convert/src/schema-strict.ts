import { isObject, present } from '@agentci/lib/data';
import { compileRegex } from '@agentci/lib/regex';

/** Draft-7 keywords that Ajv knows. In its strict mode any other keyword is an error. */
const KNOWN = new Set([
  ...[
    '$schema',
    '$id',
    '$ref',
    '$defs',
    '$vocabulary',
    '$comment',
    'definitions',
    'type',
    'nullable',
    'const',
    'enum',
  ],
  ...[
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minLength',
    'maxLength',
    'pattern',
  ],
  ...[
    'minProperties',
    'maxProperties',
    'required',
    'minItems',
    'maxItems',
    'uniqueItems',
    'not',
    'anyOf',
    'oneOf',
  ],
  ...[
    'allOf',
    'if',
    'then',
    'else',
    'contains',
    'dependencies',
    'propertyNames',
    'additionalProperties',
    'properties',
  ],
  ...[
    'patternProperties',
    'additionalItems',
    'items',
    'format',
    'title',
    'description',
    'default',
    'deprecated',
  ],
  ...['readOnly', 'writeOnly', 'examples', 'contentMediaType', 'contentEncoding', 'contentSchema'],
]);
const FORMATS = new Set([
  ...[
    'date',
    'time',
    'date-time',
    'iso-time',
    'iso-date-time',
    'duration',
    'uri',
    'uri-reference',
    'uri-template',
  ],
  ...[
    'url',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'regex',
    'uuid',
    'json-pointer',
    'json-pointer-uri-fragment',
  ],
  ...['relative-json-pointer', 'byte', 'int32', 'int64', 'float', 'double', 'password', 'binary'],
]);
const ONE = [
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'additionalProperties',
  'additionalItems',
];
const LISTS = ['anyOf', 'oneOf', 'allOf'];
const MAPS = ['properties', 'patternProperties', 'dependencies'];
const MAX_DEPTH = 60;

/** The reason why Ajv's strict mode rejects a schema, before it looks at any value. */
export function refusedBy(schema: unknown, depth = 0): string | undefined {
  if (!isObject(schema)) return undefined;
  if (depth > MAX_DEPTH) return 'a schema of such a depth';
  const own = refusedHere(schema);
  if (own !== undefined) return own;
  const { items } = schema;
  const inner = present([
    ...ONE.map((key) => schema[key]),
    ...[...LISTS.map((key) => schema[key]), items].flatMap((list) =>
      Array.isArray(list) ? list : [],
    ),
    ...MAPS.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : [])),
    Array.isArray(items) ? undefined : items,
  ]);
  for (const one of inner) {
    const found = refusedBy(one, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function refusedHere(schema: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(schema).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) return `the keyword "${unknown.slice(0, 60)}"`;
  const patterns = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  const bad = present([
    typeof schema.pattern === 'string' ? schema.pattern : undefined,
    ...patterns,
  ]).find((pattern) => !compilesThere(pattern));
  if (bad !== undefined) return `the pattern ${JSON.stringify(bad.slice(0, 60))}`;
  if (typeof schema.format === 'string' && !FORMATS.has(schema.format))
    return `the format "${schema.format.slice(0, 60)}"`;
  if (schema.if !== undefined && schema.then === undefined && schema.else === undefined)
    return '"if" without "then" or "else"';
  if (schema.if === undefined && (schema.then !== undefined || schema.else !== undefined))
    return '"then" or "else" without "if"';
  if (schema.additionalItems !== undefined && !Array.isArray(schema.items))
    return '"additionalItems" without a list of items';
  if (schema.nullable !== undefined && schema.type === undefined)
    return '"nullable" without "type"';
  const twice = Object.keys(isObject(schema.properties) ? schema.properties : {}).find((name) =>
    patterns.some((pattern) => finds(pattern, name)),
  );
  return twice === undefined
    ? undefined
    : `"${twice.slice(0, 60)}", which a pattern of "patternProperties" finds too,`;
}

/** Uses our own engine, which has a time limit. */
function finds(pattern: string, name: string): boolean {
  const result = compileRegex(pattern);
  try {
    return !result.ok || result.regex.test(name);
  } catch {
    return true;
  }
}

function compilesThere(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}
