import { isObject } from '@agentci/lib/data';
import { isExactNumber, stringifyExact } from '@agentci/lib/json';
import { clip } from '@agentci/lib/text';

export interface Difference {
  /** A JSON pointer. */
  readonly path: string;
  readonly recorded: string;
  readonly asked: string;
  /** Total number of different values. */
  readonly count: number;
}

/**
 * The first difference between two values, in the order of the recorded one, and the number of
 * differences.
 */
export function firstDifference(recorded: unknown, asked: unknown): Difference {
  let first: Omit<Difference, 'count'> | undefined;
  let count = 0;
  const visit = (a: unknown, b: unknown, path: string): void => {
    if (isExactNumber(a) || isExactNumber(b)) {
      if (shown(a) !== shown(b)) note(a, b, path);
    } else if (isObject(a) && isObject(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
        visit(own(a, key), own(b, key), `${path}/${key}`);
    } else if (Array.isArray(a) && Array.isArray(b)) {
      for (let i = 0; i < Math.max(a.length, b.length); i++) visit(a[i], b[i], `${path}/${i}`);
    } else if (a !== b) note(a, b, path);
  };
  const note = (a: unknown, b: unknown, path: string): void => {
    count++;
    first ??= { path: path === '' ? '/' : path, recorded: shown(a), asked: shown(b) };
  };
  visit(recorded, asked, '');
  return { ...(first ?? { path: '/', recorded: shown(recorded), asked: shown(asked) }), count };
}

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : clip(stringifyExact(value), 80);
