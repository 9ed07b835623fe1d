/** The part of JSON Schema that describing a value to a person needs. */
export interface JsonShape {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonShape[];
  readonly oneOf?: readonly JsonShape[];
  readonly properties?: Readonly<Record<string, JsonShape>>;
  readonly additionalProperties?: boolean | JsonShape;
  readonly items?: JsonShape;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** The shapes a value at this path may have; several where the schema gives a choice. */
export function shapesAt(shape: JsonShape, path: readonly PropertyKey[]): readonly JsonShape[] {
  let found = alternatives(shape);
  for (const step of path) {
    found = found.flatMap((each) => {
      const next = typeof step === 'number' ? each.items : propertyOf(each, String(step));
      return next === undefined ? [] : alternatives(next);
    });
  }
  return found;
}

function propertyOf(shape: JsonShape, key: string): JsonShape | undefined {
  if (shape.properties !== undefined && Object.hasOwn(shape.properties, key)) return shape.properties[key];
  return typeof shape.additionalProperties === 'object' ? shape.additionalProperties : undefined;
}

function alternatives(shape: JsonShape): readonly JsonShape[] {
  const choices = [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])];
  // `anyOf` beside `properties` only adds conditions (which keys are required); it is no choice of shapes.
  return choices.length === 0 || shape.properties !== undefined ? [shape] : choices.flatMap(alternatives);
}

/** Keys a map of these shapes may have. */
export function keysOf(found: readonly JsonShape[]): string[] {
  return [...new Set(found.flatMap((shape) => Object.keys(shape.properties ?? {})))];
}

/** The fixed values these shapes allow, e.g. the words of an enumeration. */
export function choicesOf(found: readonly JsonShape[]): unknown[] {
  return found.flatMap((shape) => shape.enum ?? (shape.const === undefined ? [] : [shape.const]));
}

/** `a whole number of at least 0`; `text or a list of text`. */
export function describeShapes(found: readonly JsonShape[]): string {
  return joinOr([...new Set(found.map(describe))]);
}

function describe(shape: JsonShape): string {
  const choices = choicesOf([shape]);
  if (choices.length > 0) return joinOr(choices.map((choice) => JSON.stringify(choice)));
  switch (Array.isArray(shape.type) ? shape.type[0] : shape.type) {
    case 'integer':
      return `a whole number${range(shape)}`;
    case 'number':
      return `a number${range(shape)}`;
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array': {
      const items = shape.items === undefined ? '' : describeShapes(alternatives(shape.items));
      return items === '' || items === 'any value' ? 'a list' : `a list of ${items.replace(/^an? (\S+)$/, '$1s')}`;
    }
    case 'object':
      return 'a map';
    default:
      return 'any value';
  }
}

function range({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonShape): string {
  const low = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined;
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  const bounds: string[] = [];
  if (low !== undefined) bounds.push(`of at least ${low}`);
  if (exclusiveMinimum !== undefined) bounds.push(`above ${exclusiveMinimum}`);
  if (high !== undefined) bounds.push(`of at most ${high}`);
  if (exclusiveMaximum !== undefined) bounds.push(`below ${exclusiveMaximum}`);
  return bounds.length === 0 ? '' : ` ${bounds.join(' and ')}`;
}

export function joinOr(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? 'any value') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const MAX_SHOWN = 60;

/** A value in a message: short, on one line, and clear about its type. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
}
