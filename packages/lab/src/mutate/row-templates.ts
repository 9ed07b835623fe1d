import { isObject } from '@agentci/lib/data';
import type { Query } from '@agentci/spec';

/** More columns with the same value are not worth trying. */
const MAX_TRIED = 4;

type Vars = NonNullable<Query['vars']>;

/**
 * A value as it may be written in a query with variables: texts that are the value of a variable become `{{name}}`, and
 * braces that are meant as text are escaped. Several where several variables have that value; the last has no variables.
 */
export function templatesOf(value: unknown, vars: Vars): unknown[] {
  const names = [...new Set(leavesOf(value).flatMap((leaf) => namesOf(leaf, vars)))];
  const withNames = (chosen: readonly string[]): unknown =>
    mapLeaves(value, (leaf) => {
      const name = chosen.find((one) => isValueOf(leaf, vars[one]));
      if (name !== undefined) return `{{${name}}}`;
      return typeof leaf === 'string' ? leaf.replaceAll('{{', '\\{{') : leaf;
    });
  const first = names.slice(0, MAX_TRIED).map((name) => withNames([name, ...names]));
  return [...first, withNames([])];
}

/** What a template says in a query with these variables. */
export const fillTemplate = (template: unknown, vars: Vars): unknown =>
  mapLeaves(template, (leaf) => {
    if (typeof leaf !== 'string') return leaf;
    const name = /^\{\{(.*)\}\}$/.exec(leaf)?.[1];
    return name !== undefined && Object.hasOwn(vars, name)
      ? vars[name]
      : leaf.replaceAll('\\{{', '{{');
  });

const namesOf = (leaf: unknown, vars: Vars): string[] =>
  Object.keys(vars).filter((name) => isValueOf(leaf, vars[name]));

/** Only texts of texts and numbers of numbers: a filled variable keeps its type. */
const isValueOf = (leaf: unknown, value: unknown): boolean =>
  (typeof leaf === 'string' || typeof leaf === 'number') && leaf === value && leaf !== '';

function leavesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return isObject(value) ? Object.values(value).flatMap(leavesOf) : [value];
}

/** Values change, keys stay. */
function mapLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, mapLeaves(item, change)]),
    );
  return change(value);
}
