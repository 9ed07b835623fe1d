import type { ValueDef, ValueSchema, ValueShape } from './value-schema.ts';

/**
 * Whether a value is surely one the schema allows. No means only that `valueIssues` has to look closer: it may find nothing
 * wrong where this says no, never the other way round.
 */
export function accepts({ def }: ValueSchema, value: unknown): boolean {
  switch (def.kind) {
    case 'string':
      return typeof value === 'string' && isText(def, value);
    case 'number':
      return typeof value === 'number' && isInRange(def, value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'unknown':
      return true;
    case 'enum':
      return def.values.includes(value as string);
    case 'array':
      return Array.isArray(value) && isList(def, value);
    case 'tuple':
      return (
        Array.isArray(value) &&
        value.length === def.items.length &&
        def.items.every((item, i) => accepts(item, value[i]))
      );
    case 'object':
      return isMap(value) && hasShape(def, value);
    case 'record':
      return isMap(value) && isRecord(def, value);
    case 'union':
      return def.options.some((option) => accepts(option, value));
    case 'default':
    case 'optional':
      return value === undefined || accepts(def.inner, value);
    case 'nullable':
      return value === null || accepts(def.inner, value);
    case 'refined':
      return accepts(def.inner, value) && def.refinement.holds(value as never);
    case 'when':
      return !def.applies(value) || accepts(def.inner, value);
  }
}

type Of<K extends ValueDef['kind']> = ValueDef & { readonly kind: K };
type Values = Readonly<Record<string, unknown>>;

function isText(
  { min = 0, max = Number.POSITIVE_INFINITY, patterns }: Of<'string'>,
  text: string,
): boolean {
  for (const { pattern } of patterns) if (!pattern.test(text)) return false;
  return text.length >= min && text.length <= max;
}

function isList(
  { item, min = 0, max = Number.POSITIVE_INFINITY }: Of<'array'>,
  list: readonly unknown[],
): boolean {
  if (list.length < min || list.length > max) return false;
  for (const each of list) if (!accepts(item, each)) return false;
  return true;
}

function isInRange({ integer, min, max, above }: Of<'number'>, value: number): boolean {
  if (!(integer === true ? Number.isSafeInteger(value) : Number.isFinite(value))) return false;
  return (
    (min === undefined || value >= min) &&
    (max === undefined || value <= max) &&
    (above === undefined || value > above)
  );
}

/** As YAML gives them. Maps with a key that JavaScript treats as special are looked at closer. */
function isMap(value: unknown): value is Values {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    !Object.hasOwn(value, '__proto__')
  );
}

function hasShape({ shape, others }: Of<'object'>, map: Values): boolean {
  for (const key of requiredKeys(shape)) if (!Object.hasOwn(map, key)) return false;
  // By the keys that are there: of those a trace's step may have, it has a third.
  for (const key of Object.keys(map)) {
    const schema = Object.hasOwn(shape, key) ? shape[key]! : others;
    if (schema !== true && (schema === false || !accepts(schema, map[key]))) return false;
  }
  return true;
}

const required = new WeakMap<ValueShape, readonly string[]>();

function requiredKeys(shape: ValueShape): readonly string[] {
  const known = required.get(shape);
  if (known !== undefined) return known;
  const keys = Object.keys(shape).filter((key) => !MAY_BE_MISSING.has(shape[key]!.def.kind));
  required.set(shape, keys);
  return keys;
}

const MAY_BE_MISSING: ReadonlySet<ValueDef['kind']> = new Set(['optional', 'default']);

function isRecord({ key, value }: Of<'record'>, map: Values): boolean {
  return Object.keys(map).every((name) => accepts(key, name) && accepts(value, map[name]));
}
