import { isObject } from '@agentci/lib/data';
import { ITEM } from './cursor.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

const MAX_CASES = 200;

/** Looks up keys and values in the JSON Schema of specs by path. */
export class SchemaGuide {
  readonly #root: JsonSchema;
  readonly #definitions: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
    this.#definitions = isObject(root.definitions) ? root.definitions : {};
  }

  /** Keys of the map at a path, with their descriptions. */
  keysAt(path: readonly string[]): ReadonlyMap<string, string> {
    const keys = new Map<string, string>();
    for (const schema of this.#at(path)) {
      if (!isObject(schema.properties)) continue;
      for (const [key, value] of Object.entries(schema.properties))
        if (!keys.has(key)) keys.set(key, this.#describe(value));
    }
    return keys;
  }

  /** The possible values at a path. */
  valuesAt(path: readonly string[]): readonly string[] {
    const values = new Set<string>();
    for (const { enum: choices, const: only, type } of this.#at(path)) {
      if (Array.isArray(choices)) for (const choice of choices) values.add(String(choice));
      if (only !== undefined) values.add(String(only));
      if (type === 'boolean') values.add('true').add('false');
    }
    return [...values];
  }

  describe(path: readonly string[], key: string): string | undefined {
    return this.keysAt(path).get(key) || undefined;
  }

  #describe(value: unknown): string {
    if (!isObject(value)) return '';
    if (typeof value.description === 'string') return value.description;
    return (
      (this.#cases([value])
        .map(({ description }) => description)
        .find((text) => typeof text === 'string') as string) ?? ''
    );
  }

  #at(path: readonly string[]): readonly JsonSchema[] {
    let found = this.#cases([this.#root]);
    for (const step of path) {
      const next = found.flatMap((schema) => below(schema, step)).slice(0, MAX_CASES);
      found = this.#cases(next);
      if (found.length === 0) return [];
    }
    return found;
  }

  /** A schema with all its references, alternatives and conditions. */
  #cases(schemas: readonly JsonSchema[]): JsonSchema[] {
    const seen = new Set<JsonSchema>();
    const open = [...schemas];
    for (
      let schema = open.pop();
      schema !== undefined && seen.size < MAX_CASES;
      schema = open.pop()
    ) {
      if (seen.has(schema)) continue;
      seen.add(schema);
      if (typeof schema.$ref === 'string')
        open.push(this.#definitions[schema.$ref.slice(14)] as JsonSchema);
      for (const key of ['anyOf', 'allOf', 'oneOf']) {
        const cases = schema[key];
        if (Array.isArray(cases)) open.push(...cases.filter(isObject));
      }
      for (const key of ['then', 'else']) if (isObject(schema[key])) open.push(schema[key]);
    }
    return [...seen].filter(isObject);
  }
}

function below(schema: JsonSchema, step: string): JsonSchema[] {
  if (step === ITEM) return isObject(schema.items) ? [schema.items] : [];
  const own = isObject(schema.properties) ? schema.properties[step] : undefined;
  if (isObject(own)) return [own];
  return isObject(schema.additionalProperties) ? [schema.additionalProperties] : [];
}
