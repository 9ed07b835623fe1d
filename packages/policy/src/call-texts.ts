import { NotCaptured } from '@agentci/lib/cel';
import { present } from '@agentci/lib/data';
import { type CallsInSight, CannotTell } from './condition-type.ts';
import { ASIDE, type Aside } from './run-facts.ts';
import { valuesInside } from './value-path.ts';

/**
 * The parts of a call's output for rules that look for texts: its result or error, and content next
 * to them. A path applies to each part. A part of plain text counts as a whole.
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

/** The same for the input of a call: its arguments, and later input. */
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

/** A value, or the reason why it is unknown. */
export function known(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotCaptured) return new CannotTell(error.message);
    throw error;
  }
}
