import { didYouMean } from '../text/did-you-mean.ts';
import type { ValueDef, ValueSchema } from './value-schema.ts';

export type ValuePath = readonly (string | number)[];

/** One problem of a value. `words` is the schema's own description. */
export type ValueIssue = { readonly path: ValuePath; readonly words?: string } & (
  | { readonly kind: 'type' | 'missing' | 'format' | 'bad_key' }
  /** `isFixed`: there is no choice, as in a map tagged with `kind: tool`. */
  | { readonly kind: 'choice'; readonly isFixed: boolean }
  | { readonly kind: 'too_small' | 'too_big'; readonly limit: number }
  | { readonly kind: 'unknown_key'; readonly key: string }
  | { readonly kind: 'custom'; readonly words: string; readonly code?: string }
  /** No schema of a union fits; the issues of each. */
  | { readonly kind: 'union'; readonly branches: readonly (readonly ValueIssue[])[] }
);

/** Whether a value is one the schema allows. */
export const accepts = (schema: ValueSchema, value: unknown): boolean =>
  valueIssues(schema, value).length === 0;

/** All problems of a value. Empty if the schema allows it. */
export function valueIssues(
  { def }: ValueSchema,
  value: unknown,
  path: ValuePath = [],
): readonly ValueIssue[] {
  switch (def.kind) {
    case 'string':
      return typeof value === 'string'
        ? textIssues(def, value, path)
        : [{ kind: 'type', path, ...saying(def.error) }];
    case 'number':
      return numberIssues(def, value, path);
    case 'boolean':
      return typeof value === 'boolean' ? [] : [{ kind: 'type', path }];
    case 'unknown':
      return [];
    case 'enum':
      return def.values.includes(value as string)
        ? []
        : [{ kind: 'choice', path, isFixed: def.values.length === 1 }];
    case 'array':
      return Array.isArray(value) ? listIssues(def, value, path) : [{ kind: 'type', path }];
    case 'tuple':
      return Array.isArray(value) ? tupleIssues(def, value, path) : [{ kind: 'type', path }];
    case 'object':
      return isMap(value) ? mapIssues(def, value, path) : [{ kind: 'type', path }];
    case 'record':
      return isMap(value) ? recordIssues(def, value, path) : [{ kind: 'type', path }];
    case 'union':
      return unionIssues(def, value, path);
    case 'default':
    case 'optional':
      return value === undefined ? [] : valueIssues(def.inner, value, path);
    case 'nullable':
      return value === null ? [] : valueIssues(def.inner, value, path);
    case 'refined':
      return refinedIssues(def, value, path);
    case 'when':
      return def.applies(value) ? valueIssues(def.inner, value, path) : [];
  }
}

type Of<K extends ValueDef['kind']> = ValueDef & { readonly kind: K };
type Values = Readonly<Record<string, unknown>>;

const saying = (words: string | undefined): { readonly words?: string } =>
  words === undefined ? {} : { words };

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textIssues(
  { min = 0, max, patterns }: Of<'string'>,
  text: string,
  path: ValuePath,
): ValueIssue[] {
  const issues: ValueIssue[] = [];
  if (text.length < min) issues.push({ kind: 'too_small', path, limit: min });
  if (max !== undefined && text.length > max) issues.push({ kind: 'too_big', path, limit: max });
  for (const { pattern, message } of patterns) {
    if (!pattern.test(text)) issues.push({ kind: 'format', path, ...saying(message) });
  }
  return issues;
}

function numberIssues(
  { integer, min, max, above }: Of<'number'>,
  value: unknown,
  path: ValuePath,
): ValueIssue[] {
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (!isNumber || (integer === true && !Number.isSafeInteger(value)))
    return [{ kind: 'type', path }];
  if (min !== undefined && value < min) return [{ kind: 'too_small', path, limit: min }];
  if (above !== undefined && value <= above) return [{ kind: 'too_small', path, limit: above }];
  if (max !== undefined && value > max) return [{ kind: 'too_big', path, limit: max }];
  return [];
}

function listIssues(
  { item, min, max }: Of<'array'>,
  list: readonly unknown[],
  path: ValuePath,
): ValueIssue[] {
  const issues = list.flatMap((each, i) => valueIssues(item, each, [...path, i]));
  if (min !== undefined && list.length < min) issues.push({ kind: 'too_small', path, limit: min });
  if (max !== undefined && list.length > max) issues.push({ kind: 'too_big', path, limit: max });
  return issues;
}

function tupleIssues(
  { items }: Of<'tuple'>,
  list: readonly unknown[],
  path: ValuePath,
): readonly ValueIssue[] {
  if (list.length < items.length) return [{ kind: 'too_small', path, limit: items.length }];
  if (list.length > items.length) return [{ kind: 'too_big', path, limit: items.length }];
  return items.flatMap((item, i) => valueIssues(item, list[i], [...path, i]));
}

function mapIssues({ shape, others }: Of<'object'>, map: Values, path: ValuePath): ValueIssue[] {
  const issues: ValueIssue[] = [];
  for (const [key, schema] of Object.entries(shape)) {
    const at = [...path, key];
    if (Object.hasOwn(map, key)) issues.push(...valueIssues(schema, map[key], at));
    else if (valueIssues(schema, undefined, at).length > 0)
      issues.push({ kind: 'missing', path: at });
  }
  if (others === true) return issues;
  for (const key of Object.keys(map)) {
    if (Object.hasOwn(shape, key)) continue;
    if (others === false) issues.push({ kind: 'unknown_key', path, key });
    else issues.push(...valueIssues(others, map[key], [...path, key]));
  }
  return issues;
}

function recordIssues(
  { key: keys, value: values }: Of<'record'>,
  map: Values,
  path: ValuePath,
): ValueIssue[] {
  return Object.keys(map).flatMap((key) => {
    const at = [...path, key];
    const wrong = valueIssues(keys, key, at)[0];
    if (wrong !== undefined)
      return [{ kind: 'bad_key', path: at, ...saying(wrong.words) } as const];
    return valueIssues(values, map[key], at);
  });
}

function unionIssues(
  { options }: Of<'union'>,
  value: unknown,
  path: ValuePath,
): readonly ValueIssue[] {
  const branches: (readonly ValueIssue[])[] = [];
  for (const option of options) {
    const issues = valueIssues(option, value, path);
    if (issues.length === 0) return [];
    branches.push(issues);
  }
  return [{ kind: 'union', path, branches }];
}

function refinedIssues(
  { inner, refinement }: Of<'refined'>,
  value: unknown,
  path: ValuePath,
): readonly ValueIssue[] {
  const issues = valueIssues(inner, value, path);
  if (issues.length > 0 || refinement.holds(value as never)) return issues;
  const { message, code } = refinement;
  const words = typeof message === 'string' ? message : message(value as never);
  return [{ kind: 'custom', path, words, code }];
}

/**
 * The branch of a union that describes the problem best: one whose type fits the value. None if the
 * value has another type.
 */
export function bestBranch(
  branches: readonly (readonly ValueIssue[])[],
  path: ValuePath,
): readonly ValueIssue[] | undefined {
  const fitting = branches
    .flatMap((branch) => innerBranches(branch, path))
    .filter(
      (branch) => !branch.some((issue) => issue.path.length === path.length && isOfType(issue)),
    );
  // A map may state its kind, as in `kind: tool`. The branch that accepts it is the intended one.
  const misnamed = (branch: readonly ValueIssue[]): ValueIssue | undefined =>
    branch.find(
      (issue) => issue.kind === 'choice' && issue.isFixed && issue.path.length === path.length + 1,
    );
  const named = fitting.filter((branch) => misnamed(branch) === undefined);
  if (named.length === 0 && fitting.length > 0) {
    const wrong = misnamed(fitting[0]!)!;
    if (fitting.every((branch) => misnamed(branch)?.path.at(-1) === wrong.path.at(-1)))
      return [wrong];
  }
  return (named.length > 0 ? named : fitting)
    .map(withoutMisspelt)
    .toSorted((a, b) => a.length - b.length)[0];
}

/** Flattens nested choices. */
function innerBranches(
  branch: readonly ValueIssue[],
  path: ValuePath,
): readonly (readonly ValueIssue[])[] {
  const [only] = branch;
  if (branch.length !== 1 || only?.kind !== 'union' || only.path.length !== path.length)
    return [branch];
  return only.branches.flatMap((inner) => innerBranches(inner, path));
}

/** A missing key that was misspelt is one mistake. */
function withoutMisspelt(branch: readonly ValueIssue[]): readonly ValueIssue[] {
  const unknown = branch.flatMap((issue) => (issue.kind === 'unknown_key' ? [issue.key] : []));
  if (unknown.length === 0) return branch;
  return branch.filter(
    ({ kind, path }) =>
      kind !== 'missing' ||
      !unknown.some((key) => didYouMean(key, [String(path.at(-1))]) !== undefined),
  );
}

const isOfType = ({ kind }: ValueIssue): boolean =>
  kind === 'type' || kind === 'choice' || kind === 'union';

/** The issues to show: for a union, those of the intended branch. */
export function leafIssues(issue: ValueIssue): readonly ValueIssue[] {
  if (issue.kind !== 'union') return [issue];
  return bestBranch(issue.branches, issue.path)?.flatMap(leafIssues) ?? [issue];
}
