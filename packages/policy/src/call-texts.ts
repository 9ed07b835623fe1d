import { NotCaptured } from '@agentci/lib/cel';
import { present } from '@agentci/lib/data';
import { type CallsInSight, CannotTell } from './condition-type.ts';
import { ASIDE, type Aside } from './run-facts.ts';
import { valuesInside } from './value-path.ts';

/**
 * What a call gave back, part by part, for rules that look for texts: its result, or why it failed, and what came beside
 * them. A path leads into each part; a part that is text without an inside counts as a whole.
 */
export function answersAt(
  calls: CallsInSight,
  at: number,
  path: readonly string[],
): unknown[][] | CannotTell {
  const call = calls.value(at);
  const result = known(() => call.result);
  const error = known(() => call.error);
  if (result instanceof CannotTell && typeof error !== 'string') return result;
  const { said } = call[ASIDE] as Aside;
  const parts = present([
    result instanceof CannotTell ? undefined : valuesInside(result, path),
    typeof error === 'string' ? [error] : undefined,
    ...(said === undefined ? [] : said.map((part) => valuesInside(part, path))),
  ]);
  return parts.filter((part) => part.length > 0);
}

/** What a call was given, likewise: its arguments, and what was handed in later. */
export function sentAt(
  calls: CallsInSight,
  at: number,
  path: readonly string[],
): unknown[][] | CannotTell {
  const call = calls.value(at);
  const args = known(() => call.args);
  if (args instanceof CannotTell) return args;
  const { sent } = call[ASIDE] as Aside;
  return present([valuesInside(args, path), sent === undefined ? undefined : [sent]]).filter(
    (part) => part.length > 0,
  );
}

/** A value, or why it is not known. */
export function known(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotCaptured) return new CannotTell(error.message);
    throw error;
  }
}
