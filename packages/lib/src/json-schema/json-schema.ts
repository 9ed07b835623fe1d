// Uses @cfworker/json-schema, because ajv compiles schemas with `new Function` and some come from MCP servers. Of the 2,063 tests
// of the official suite (2020-12, with formats) this module passes 1,941, cfworker alone 1,885, ajv 1,846.
import { createRequire } from 'node:module';
import type * as Cfworker from '@cfworker/json-schema';
import { isLinearInV8 } from '../regex/regex.ts';
import { parseRegex } from '../regex/regex-syntax.ts';
import { runGuarded } from '../regex/time-guard.ts';
import { correctAnchors } from './json-schema-anchors.ts';
import {
  compilesNatively,
  findSchemaProblem,
  type SchemaDraft,
  subschemas,
} from './json-schema-shape.ts';
import {
  isHostname,
  isIdnEmail,
  isIdnHostname,
  isIpv4,
  isIri,
  isIriReference,
  isUri,
  isUriReference,
} from './uri-formats.ts';

export { canFail } from './json-schema-effect.ts';

export interface JsonSchemaError {
  /** JSON pointer into the value. Empty for the value itself. */
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
}

export interface JsonSchemaVerdict {
  readonly valid: boolean;
  /** Up to 20, in the order found. */
  readonly errors: readonly JsonSchemaError[];
  /** Validation ran out of time or stack, so the validity is unknown, and `valid` is false. */
  readonly timedOut?: true;
}

export type JsonSchemaResult =
  | { readonly ok: true; readonly validate: (value: unknown) => JsonSchemaVerdict }
  | { readonly ok: false; readonly message: string; readonly path: string };

const MAX_ERRORS = 20;
const DRAFTS: ReadonlyMap<string, SchemaDraft> = new Map([
  ['json-schema.org/draft-04/schema', '4'],
  ['json-schema.org/draft-06/schema', '7'],
  ['json-schema.org/draft-07/schema', '7'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
]);
/** Formats with linear patterns. The validator's other patterns can take exponential time. */
const CHEAP_FORMATS: ReadonlySet<string> = new Set([
  'date',
  'time',
  'date-time',
  'email',
  'hostname',
  'uri',
  'uri-reference',
  'iri',
  'iri-reference',
  'idn-hostname',
  'idn-email',
  'ipv4',
  'ipv6',
  'uuid',
]);

/**
 * Compiles a JSON Schema after validating it: wrong keyword types, invalid patterns and dangling
 * references are errors here, not silent passes later. Fetches nothing and does not change the
 * schema.
 */
export function compileJsonSchema(schema: unknown): JsonSchemaResult {
  const draft = draftOf(schema);
  if (draft === undefined)
    return { ok: false, message: '$schema names a draft that is not supported', path: '/$schema' };
  const problem = findSchemaProblem(schema, draft);
  if (problem !== undefined) return { ok: false, ...problem };
  // A copy, because the validator writes into its schema.
  const copy = structuredClone(schema) as Cfworker.Schema | boolean;
  const facts = prepare(copy, draft);
  if (facts.problem !== undefined) return { ok: false, ...facts.problem };
  // Nothing to resolve, so loading the validator (12 ms) waits for the first value.
  if (!facts.hasNames && facts.references.length === 0) {
    let validate: ((value: unknown) => JsonSchemaVerdict) | undefined;
    return {
      ok: true,
      validate: (value) => {
        validate ??= validator(copy, draft, cfworker().dereference(copy), facts.isRisky);
        return validate(value);
      },
    };
  }
  try {
    const { dereference, initialBaseURI } = cfworker();
    const lookup = correctAnchors(dereference(copy), copy, initialBaseURI.href);
    const lost = facts.references.find(
      ({ schema: holder }) => lookup[holder.__absolute_ref__ ?? ''] === undefined,
    );
    if (lost !== undefined) {
      const why = lost.schema.$ref?.startsWith('#')
        ? 'points to nothing in the schema'
        : 'is outside the schema; nothing is fetched';
      return { ok: false, message: `$ref "${lost.schema.$ref}" ${why}`, path: lost.path };
    }
    if (refersToItself(copy, lookup))
      return {
        ok: false,
        message: '$ref leads back to itself without looking at any part of the value',
        path: '',
      };
    return { ok: true, validate: validator(copy, draft, lookup, facts.isRisky) };
  } catch (error) {
    return { ok: false, message: readableProblem(error), path: '' };
  }
}

/** The validator reports addresses under a base that the schema does not have. */
function readableProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, address] = /^Duplicate schema URI "([^"]*)"/.exec(message) ?? [];
  if (address === undefined) return message;
  const { origin } = cfworker().initialBaseURI;
  return `$id "${address.startsWith(`${origin}/`) ? address.slice(origin.length + 1) : address}" is there twice`;
}

function draftOf(schema: unknown): SchemaDraft | undefined {
  if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, '$schema'))
    return '2020-12';
  const { $schema } = schema as { $schema: unknown };
  if (typeof $schema !== 'string') return undefined;
  return DRAFTS.get($schema.replace(/^https?:\/\//, '').replace(/#$/, ''));
}

interface SchemaFacts {
  /**
   * Validation may take long: its patterns have no proven bound, or it compares all items with all.
   */
  isRisky: boolean;
  references: { schema: Cfworker.Schema; path: string }[];
  /** Some part has a name that others may reference. */
  hasNames: boolean;
  problem?: { message: string; path: string };
}

const NAMES = [
  '$id',
  'id',
  '$anchor',
  '$recursiveAnchor',
  '$dynamicAnchor',
  '$recursiveRef',
  '$dynamicRef',
];

/**
 * Walks the copy once: collects references, checks patterns, and rewrites those that V8 would
 * reject.
 */
function prepare(root: Cfworker.Schema | boolean, draft: SchemaDraft): SchemaFacts {
  const facts: SchemaFacts = { isRisky: false, references: [], hasNames: false };
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
    const node = schema as Cfworker.Schema;
    // Up to draft 7 a reference hides its siblings, including a name for others to reference.
    if (node.$ref !== undefined && (draft === '4' || draft === '7')) delete node.$id;
    if (node.$ref !== undefined) facts.references.push({ schema: node, path: `${path}/$ref` });
    if (NAMES.some((name) => Object.hasOwn(node, name))) facts.hasNames = true;
    if (node.uniqueItems === true) facts.isRisky = true;
    if (typeof node.format === 'string' && !CHEAP_FORMATS.has(node.format)) facts.isRisky = true;
    if (node.pattern !== undefined) node.pattern = checkPattern(node.pattern, `${path}/pattern`);
    if (node.patternProperties !== undefined) {
      node.patternProperties = Object.fromEntries(
        Object.entries(node.patternProperties).map(([pattern, value]) => [
          checkPattern(pattern, `${path}/patternProperties`),
          value,
        ]),
      );
    }
    for (const [steps, part] of subschemas(schema)) visit(part, [path, ...steps].join('/'));
  };
  const checkPattern = (pattern: string, path: string): string => {
    if (!isLinearInV8(pattern)) facts.isRisky = true;
    if (compilesNatively(pattern)) return pattern;
    const { source, flags, hasScopedFlags } = parseRegex(pattern);
    if (hasScopedFlags || flags !== 'u')
      facts.problem ??= { message: 'flags inside a pattern are not supported in a schema', path };
    return source;
  };
  visit(root, '');
  return facts;
}

/** Whether references and combinators on the same value form a cycle, which would never end. */
function refersToItself(
  root: Cfworker.Schema | boolean,
  lookup: Record<string, Cfworker.Schema | boolean>,
): boolean {
  const done = new Set<unknown>();
  const open = new Set<unknown>();
  const loops = (schema: unknown): boolean => {
    if (typeof schema !== 'object' || schema === null || done.has(schema)) return false;
    if (open.has(schema)) return true;
    open.add(schema);
    const node = schema as Cfworker.Schema;
    const same: unknown[] = [
      ...[node.not, node.if, node.then, node.else],
      ...(node.allOf ?? []),
      ...(node.anyOf ?? []),
      ...(node.oneOf ?? []),
      ...Object.values(node.dependentSchemas ?? {}),
    ];
    if (node.__absolute_ref__ !== undefined) same.push(lookup[node.__absolute_ref__]);
    const result = same.some(loops);
    open.delete(schema);
    done.add(schema);
    return result;
  };
  return [root, ...Object.values(lookup)].some(loops);
}

function validator(
  schema: Cfworker.Schema | boolean,
  draft: SchemaDraft,
  lookup: Record<string, Cfworker.Schema | boolean>,
  isRisky: boolean,
): (value: unknown) => JsonSchemaVerdict {
  const { validate } = cfworker();
  const run = (value: unknown): JsonSchemaVerdict => {
    const quick = validate(value, schema, draft, lookup, true);
    if (quick.valid) return VALID;
    return { valid: false, errors: readable(allErrors(value) ?? quick.errors) };
  };
  const allErrors = (value: unknown): Cfworker.OutputUnit[] | undefined => {
    try {
      return validate(value, schema, draft, lookup, false).errors;
    } catch {
      return undefined;
    }
  };
  return (value) => {
    try {
      if (!isRisky) return run(value);
      const guarded = runGuarded(() => run(value));
      return guarded.ok ? guarded.value : NOT_KNOWN;
    } catch {
      // The value is nested too deep, or is not JSON.
      return NOT_KNOWN;
    }
  };
}

const VALID: JsonSchemaVerdict = { valid: true, errors: [] };
const NOT_KNOWN: JsonSchemaVerdict = { valid: false, errors: [], timedOut: true };

/** Keywords that only report an error of a subschema, whose own error is clearer. */
const WRAPPERS = new Set([
  'properties',
  'items',
  'prefixItems',
  'patternProperties',
  '$ref',
  '$recursiveRef',
  'allOf',
  'false',
  'dependentSchemas',
]);

function readable(units: readonly Cfworker.OutputUnit[]): JsonSchemaError[] {
  const leaves = units.filter((unit) => !WRAPPERS.has(unit.keyword));
  return (leaves.length > 0 ? leaves : units).slice(0, MAX_ERRORS).map((unit) => ({
    path: unit.instanceLocation.replace(/^#/, ''),
    keyword: unit.keyword,
    message: unit.error,
  }));
}

let loaded: typeof Cfworker | undefined;

// require instead of import, because compiling is synchronous and only specs with a schema need the
// validator.
function cfworker(): typeof Cfworker {
  if (loaded === undefined) {
    loaded = createRequire(import.meta.url)('@cfworker/json-schema') as typeof Cfworker;
    // Replaces formats that accept near misses and reject other scripts.
    const isDateTime = loaded.format['date-time']!;
    Object.assign(loaded.format, {
      hostname: isHostname,
      uri: isUri,
      'uri-reference': isUriReference,
      iri: isIri,
      'iri-reference': isIriReference,
      'idn-hostname': isIdnHostname,
      'idn-email': isIdnEmail,
      ipv4: isIpv4,
      // RFC 3339 has a "T" between the day and the time.
      'date-time': (text: string) => /^.{10}t/i.test(text) && isDateTime(text),
    });
  }
  return loaded;
}
