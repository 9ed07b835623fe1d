import { defined } from '../data/defined.ts';
import type { ValueDef, ValueSchema, ValueShape } from './value-schema.ts';

type JsonSchema = Record<string, unknown>;
type Definitions = Map<string, JsonSchema>;

/** A schema as JSON Schema draft 7, which editors support. Named schemas become definitions. */
export function jsonSchemaOf(schema: ValueSchema): JsonSchema {
  const definitions: Definitions = new Map();
  const root = write(schema, definitions);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...root,
    ...(definitions.size === 0 ? {} : { definitions: Object.fromEntries(definitions) }),
  };
}

function write(schema: ValueSchema, definitions: Definitions): JsonSchema {
  const { description, keywords, id } = schema.notes;
  const written = (): JsonSchema => ({
    ...convert(schema.def, definitions),
    ...keywords,
    ...(description === undefined ? {} : { description }),
  });
  if (id === undefined) return written();
  if (!definitions.has(id)) {
    definitions.set(id, {});
    definitions.set(id, written());
  }
  // Draft 7 ignores everything next to a reference.
  return { allOf: [{ $ref: `#/definitions/${id}` }] };
}

function convert(def: ValueDef, definitions: Definitions): JsonSchema {
  const of = (schema: ValueSchema): JsonSchema => write(schema, definitions);
  switch (def.kind) {
    case 'string':
      return text(def);
    case 'number':
      return number(def);
    case 'boolean':
      return { type: 'boolean' };
    case 'unknown':
      return {};
    case 'enum':
      return choice(def.values);
    case 'array':
      return {
        type: 'array',
        items: of(def.item),
        ...given({ minItems: def.min, maxItems: def.max }),
      };
    case 'tuple':
      return {
        type: 'array',
        items: def.items.map(of),
        minItems: def.items.length,
        maxItems: def.items.length,
      };
    case 'object':
      return object(def, definitions);
    case 'record':
      return { type: 'object', propertyNames: of(def.key), additionalProperties: of(def.value) };
    case 'union':
      return { anyOf: def.options.map(of) };
    case 'optional':
    case 'refined':
      return of(def.inner);
    case 'default':
      return { ...of(def.inner), default: def.value };
    case 'nullable':
      return { anyOf: [of(def.inner), { type: 'null' }] };
    case 'when':
      // Code decides whether it applies.
      return {};
  }
}

const given = (keywords: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined));

function text({ min, max, patterns }: ValueDef & { kind: 'string' }): JsonSchema {
  const [first, ...rest] = patterns.map(({ pattern }) => ({ pattern: pattern.source }));
  return {
    type: 'string',
    ...given({ minLength: min, maxLength: max }),
    ...first,
    ...(rest.length === 0 ? {} : { allOf: rest }),
  };
}

function number({ integer, min, max, above }: ValueDef & { kind: 'number' }): JsonSchema {
  return {
    type: integer === true ? 'integer' : 'number',
    ...given({ minimum: min, exclusiveMinimum: above, maximum: max }),
  };
}

function choice(values: readonly unknown[]): JsonSchema {
  const [first] = values;
  if (values.length === 1)
    return first === null ? { type: 'null' } : { type: typeof first, const: first };
  return defined({
    type: values.every((value) => typeof value === 'string') ? 'string' : undefined,
    enum: [...values],
  });
}

function object(
  { shape, others }: ValueDef & { kind: 'object' },
  definitions: Definitions,
): JsonSchema {
  const required = Object.keys(shape).filter((key) => isRequired(shape, key));
  return defined({
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(shape).map(([key, schema]) => [key, write(schema, definitions)]),
    ),
    required: required.length !== 0 ? required : undefined,
    additionalProperties: typeof others === 'object' ? write(others, definitions) : others,
  });
}

function isRequired(shape: ValueShape, key: string): boolean {
  const { kind } = shape[key]!.def;
  return kind !== 'optional' && kind !== 'default' && kind !== 'unknown';
}
