import { isObject } from '@agentci/lib/data';

/** Fields that SDKs generate for every run and that do not affect the answer. */
export const DEFAULT_IGNORE: readonly string[] = [
  'user',
  'metadata',
  'prompt_cache_key',
  'safety_identifier',
  'stream_options',
  'store',
];

/**
 * The name of a top-level field of a body, or a JSON pointer in which `*` is any key or list index.
 */
export const IGNORE_FORM = /^(?:[^/\s][^/]*|(?:\/(?:[^~/]|~[01])+)+)$/;

const stepsOf = (item: string): readonly string[] =>
  item.startsWith('/')
    ? item
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : [item];

/**
 * Prepares the default fields and those of a spec. Returns a function that removes them from a
 * body.
 */
export function prepareIgnore(items: readonly string[]): (body: unknown) => unknown {
  const paths = [...new Set([...DEFAULT_IGNORE, ...items])].map(stepsOf);
  const names = new Set(paths.filter(({ length }) => length === 1).map(([name]) => name!));
  const deep = paths.filter(({ length }) => length > 1);
  const hasAny = names.has('*');
  return (body) => {
    if (!isObject(body)) return body;
    const kept = Object.entries(body).filter(([name]) => !hasAny && !names.has(name));
    const top: unknown = kept.length === Object.keys(body).length ? body : Object.fromEntries(kept);
    return deep.reduce((value, steps) => without(value, steps, 0), top);
  };
}

function without(value: unknown, steps: readonly string[], at: number): unknown {
  const step = steps[at]!;
  const isLast = at === steps.length - 1;
  const fits = (key: string): boolean => step === '*' || step === key;
  if (Array.isArray(value)) {
    // An ignored list item keeps its position, so that the others do not move up.
    return value.map((item, i) => {
      if (fits(String(i))) return isLast ? null : without(item, steps, at + 1);
      return item;
    });
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (!fits(key)) return [[key, inner]];
      return isLast ? [] : [[key, without(inner, steps, at + 1)]];
    }),
  );
}
