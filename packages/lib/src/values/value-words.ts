import type { ValueIssue, ValuePath } from './value-issues.ts';
import type { ValueDef, ValueSchema } from './value-schema.ts';

type Of<K extends ValueDef['kind']> = ValueDef & { readonly kind: K };

/** The possible schemas of a value at this path. Several in a union. */
export function schemasAt(schema: ValueSchema, path: ValuePath): readonly ValueDef[] {
  let found = alternatives(schema);
  for (const step of path) found = found.flatMap((def) => below(def, step).flatMap(alternatives));
  return found;
}

function alternatives({ def }: ValueSchema): readonly ValueDef[] {
  switch (def.kind) {
    case 'union':
      return def.options.flatMap(alternatives);
    case 'optional':
    case 'default':
    case 'refined':
    case 'when':
      return alternatives(def.inner);
    case 'nullable':
      return [...alternatives(def.inner), { kind: 'enum', values: [null] }];
    default:
      return [def];
  }
}

function below(def: ValueDef, step: string | number): readonly ValueSchema[] {
  if (def.kind === 'array') return typeof step === 'number' ? [def.item] : [];
  if (def.kind === 'tuple') return def.items.slice(Number(step), Number(step) + 1);
  if (def.kind === 'record') return [def.value];
  if (def.kind !== 'object') return [];
  const own = Object.hasOwn(def.shape, step) ? def.shape[step] : undefined;
  if (own !== undefined) return [own];
  return typeof def.others === 'object' ? [def.others] : [];
}

/** Allowed keys of maps of these kinds. */
export const keysOf = (found: readonly ValueDef[]): string[] => [
  ...new Set(found.flatMap((def) => (def.kind === 'object' ? Object.keys(def.shape) : []))),
];

/** The fixed values to choose from. */
export const choicesOf = (found: readonly ValueDef[]): readonly unknown[] =>
  found.flatMap((def) => (def.kind === 'enum' ? def.values : []));

/** `a whole number of at least 0`; `text or a list of text`. */
export const describeDefs = (found: readonly ValueDef[]): string =>
  joinOr([...new Set(found.map(describe))]);

function describe(def: ValueDef): string {
  switch (def.kind) {
    case 'enum':
      return joinOr(def.values.map((value) => JSON.stringify(value)));
    case 'number':
      return `a ${def.integer === true ? 'whole ' : ''}number${range(def)}`;
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'array': {
      const items = describeDefs(alternatives(def.item));
      return items === 'any value' ? 'a list' : `a list of ${items.replace(/^an? (\S+)$/, '$1s')}`;
    }
    case 'tuple':
      return `a list of ${def.items.length}`;
    case 'object':
    case 'record':
      return 'a map';
    default:
      return 'any value';
  }
}

function range({ min, max, above }: Of<'number'>): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  const bounds: string[] = [];
  if (min !== undefined) bounds.push(`of at least ${min}`);
  if (above !== undefined) bounds.push(`above ${above}`);
  if (max !== undefined) bounds.push(`of at most ${max}`);
  return bounds.length === 0 ? '' : ` ${bounds.join(' and ')}`;
}

export function joinOr(words: readonly string[]): string {
  return words.length < 2
    ? (words[0] ?? 'any value')
    : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
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

/** An issue as one sentence about the value at its path, if there is no text to point at. */
export function issueMessage(issue: ValueIssue, schema: ValueSchema, value: unknown): string {
  const { path } = issue;
  switch (issue.kind) {
    case 'custom':
      return issue.words;
    case 'missing':
      return 'is missing';
    case 'unknown_key':
      return `has no key "${issue.key}"`;
    case 'bad_key':
    case 'format':
      return issue.words ?? `cannot be ${showValue(valueAt(value, path))}`;
  }
  const expected = `must be ${describeDefs(schemasAt(schema, path))}, not ${showValue(valueAt(value, path))}`;
  if (issue.kind !== 'too_small' && issue.kind !== 'too_big') return issue.words ?? expected;
  const found = valueAt(value, path);
  if (typeof found === 'number') return expected;
  const word = issue.kind === 'too_big' ? 'at most' : 'at least';
  return `must have ${word} ${issue.limit} ${typeof found === 'string' ? 'characters' : 'items'}`;
}

/** `steps[0].name`. */
export function pathText(path: ValuePath): string {
  let text = '';
  for (const step of path)
    text += typeof step === 'number' ? `[${step}]` : `${text === '' ? '' : '.'}${step}`;
  return text;
}

function valueAt(value: unknown, path: ValuePath): unknown {
  let found = value;
  for (const step of path)
    found = (found as Readonly<Record<string | number, unknown>> | null | undefined)?.[step];
  return found;
}
