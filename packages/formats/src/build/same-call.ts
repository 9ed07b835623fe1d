import { isDeepStrictEqual } from 'node:util';
import { isFields } from '@agentci/trace';

interface Asked {
  readonly name: string;
  readonly args?: unknown;
  readonly argsRaw?: string;
}

/**
 * Whether two messages with one id can be about one call. Some servers restart ids in every reply,
 * so an id alone does not make an echo.
 */
export const isEcho = (a: Asked, b: Asked): boolean =>
  a.name === b.name &&
  (a.args === undefined || b.args === undefined || isDeepStrictEqual(a.args, b.args)) &&
  (a.argsRaw === undefined || b.argsRaw === undefined || a.argsRaw === b.argsRaw);

/**
 * Whether two records of one tool certainly have different values. Wrappers reshape arguments, so
 * only the same parameters with other values distinguish calls.
 */
export function hasOtherValues(a: unknown, b: unknown): boolean {
  if (!isFields(a) || !isFields(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length || !keys.every((key) => Object.hasOwn(b, key)))
    return false;
  return !isDeepStrictEqual(a, b);
}

/** Whether a recorder took the only argument of a call for a wrapper around its arguments. */
export function isUnwrapped(recorded: unknown, asked: unknown): boolean {
  const values = isFields(asked) ? Object.values(asked) : [];
  return values.length === 1 && isFields(recorded) && isDeepStrictEqual(recorded, values[0]);
}
