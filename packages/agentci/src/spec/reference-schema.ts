type JsonSchema = Record<string, unknown>;

/**
 * What may be written where the loader puts something else. Of `!include rubrics.yaml` a JSON Schema sees the text alone: a
 * file name, or a pointer.
 */
const STAND_INS: Readonly<Record<string, JsonSchema>> = {
  variable: { type: 'string', pattern: '\\{\\{[^{}]+\\}\\}' },
  include: { type: 'string', pattern: '\\.(ya?ml|json)(#.*)?$|^\\S+\\.[A-Za-z]\\w*(#\\S*)?$|#/' },
  reference: { type: 'object', required: ['$ref'], properties: { $ref: { type: 'string' } } },
};
/** Texts take any file name already; maps with known keys have `$ref` among them, so that the keys beside it are checked. */
const KINDS = {
  for_text: ['variable', 'reference'],
  for_map: ['variable', 'include'],
  for_value: ['variable', 'include', 'reference'],
} as const;
type Kind = keyof typeof KINDS;

const pointTo = (id: string): JsonSchema => ({ $ref: `#/definitions/${id}` });

const VALUE_KEYWORDS = ['items', 'additionalProperties'] as const;

/** A JSON Schema of a spec that allows `!include`, `$ref` and `{{variable}}` wherever the loader does. */
export function allowReferences(schema: JsonSchema): JsonSchema {
  const { definitions = {}, ...root } = schema as { definitions?: Record<string, JsonSchema> };
  const resolve = (ref: string): JsonSchema =>
    definitions[ref.slice('#/definitions/'.length)] ?? {};
  const writer = new ReferenceWriter(resolve);
  return {
    ...writer.inside(root),
    definitions: {
      ...Object.fromEntries(
        Object.entries(definitions).map(([id, one]) => [id, writer.inside(one)]),
      ),
      ...mapValues(KINDS, (names) => ({
        anyOf: (names as readonly string[]).map((name) => STAND_INS[name]),
      })),
    },
  };
}

class ReferenceWriter {
  readonly #resolve: (ref: string) => JsonSchema;

  constructor(resolve: (ref: string) => JsonSchema) {
    this.#resolve = resolve;
  }

  /** A value that may be written as something else. */
  #value(schema: unknown): unknown {
    if (!isSchema(schema) || Object.keys(schema).length === 0) return schema;
    const { description, default: usual, ...rest } = this.inside(schema);
    const condition = pointTo(this.#kindOf(schema));
    const notes = {
      description,
      default: usual,
    };
    return { ...notes, if: condition, else: rest };
  }

  #kindOf(schema: JsonSchema): Kind {
    if (schema.type === 'string' && schema.enum === undefined && schema.const === undefined)
      return 'for_text';
    return this.#takesReferences(schema) ? 'for_map' : 'for_value';
  }

  /** The same schema, with every value below it open to them. */
  inside(schema: JsonSchema): JsonSchema {
    const copy: JsonSchema = { ...schema };
    if (isSchema(copy.properties))
      copy.properties = mapValues(copy.properties, (one) => this.#value(one));
    for (const key of VALUE_KEYWORDS) {
      const value = copy[key];
      if (Array.isArray(value)) copy[key] = value.map((one) => this.#value(one));
      else if (isSchema(value)) copy[key] = this.#value(value);
    }
    for (const key of ['anyOf', 'allOf', 'oneOf'])
      if (Array.isArray(copy[key]))
        copy[key] = copy[key].map((one) => (isSchema(one) ? this.inside(one) : one));
    return isClosedMap(copy) ? withReference(copy) : copy;
  }

  /** Whether a map with `$ref` is one of its own cases already, where the other keys are still checked. */
  #takesReferences(schema: JsonSchema, depth = 0): boolean {
    if (depth > 8) return false;
    if (isClosedMap(schema)) return true;
    if (typeof schema.$ref === 'string')
      return this.#takesReferences(this.#resolve(schema.$ref), depth + 1);
    return ['anyOf', 'allOf', 'oneOf'].some((key) => {
      const cases = schema[key];
      return (
        Array.isArray(cases) &&
        cases.some((one) => isSchema(one) && this.#takesReferences(one, depth + 1))
      );
    });
  }
}

/** Keys beside `$ref` are laid over what it names: each is checked, and nothing is asked of the map as a whole. */
function withReference({
  type,
  properties,
  additionalProperties,
  ...asked
}: JsonSchema): JsonSchema {
  const { description, title, ...rest } = asked;
  return {
    type,
    description,
    title,
    properties: { ...(properties as JsonSchema), $ref: { type: 'string' } },
    additionalProperties,
    if: Object.keys(rest).length === 0 ? undefined : { required: ['$ref'] },
    else: Object.keys(rest).length === 0 ? undefined : rest,
  };
}

const isClosedMap = (schema: JsonSchema): boolean =>
  schema.additionalProperties === false && isSchema(schema.properties);

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mapValues = (object: JsonSchema, change: (value: unknown) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
