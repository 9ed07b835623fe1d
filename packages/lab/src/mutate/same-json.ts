import type { Trace } from '@agentci/trace';

/**
 * Compares as JSON: ignores prototypes and undefined fields. Fast, because mutants share objects
 * with their recording.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b);
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => isSameJson(item, b[i]))
    );
  const [before, after] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key in before) if (!isSameJson(before[key], after[key])) return false;
  for (const key in after) if (after[key] !== undefined && before[key] === undefined) return false;
  return true;
}

/** Compares recordings without step numbers, because a change renumbers them. */
export function isSameTrace(a: Trace, b: Trace): boolean {
  const { steps: before, ...rest } = a;
  const { steps: after, ...other } = b;
  if (before.length !== after.length || !isSameJson(rest, other)) return false;
  return before.every(
    (step, i) => step === after[i] || isSameJson(step, { ...after[i], seq: step.seq }),
  );
}
