import { isObject } from '@agentci/lib/data';
import type { Query } from '@agentci/spec';

/** Maximum number of columns with the same value to try. */
const MAX_TRIED = 4;

type Vars = NonNullable<Query['vars']>;

/**
 * Possible spellings of a value in a query with variables. Texts equal to a variable become
 * `{{name}}`, and literal braces are escaped. Several if several variables have that value. The
 * last spelling has no variables.
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

/** Fills a template with the query's variables. */
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

/** Texts only match texts and numbers only numbers, because a filled variable keeps its type. */
const isValueOf = (leaf: unknown, value: unknown): boolean =>
  (typeof leaf === 'string' || typeof leaf === 'number') && leaf === value && leaf !== '';

function leavesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return isObject(value) ? Object.values(value).flatMap(leavesOf) : [value];
}

/** Maps values and keeps keys. */
function mapLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, mapLeaves(item, change)]),
    );
  return change(value);
}
