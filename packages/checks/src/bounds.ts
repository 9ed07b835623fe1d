import type { Quantity } from '@agentci/trace';
import { type CheckOutcome, held, unmeasured, violated } from './check.ts';
import { number, rounded } from './words.ts';

/** Ratios such as 0.6 / 0.2 carry rounding errors, and a bound of 3 must still hold. */
const DUST = 1e-9;

export const isAbove = (value: number, max: number): boolean =>
  value > max + DUST * Math.max(1, Math.abs(max));
export const isBelow = (value: number, min: number): boolean => value < min - DUST;

/** Drops insignificant digits, unless rounding would move the value across its limit. */
function forPeople(value: number, max: number): number {
  if (value < 1 || Number.isInteger(value)) return value;
  const short = Math.round(value * 10) / 10;
  return isAbove(short, max) === isAbove(value, max) ? short : value;
}

/**
 * Compares a quantity with an upper limit. A partly known quantity can exceed the limit but never
 * keep it.
 */
export function atMost(options: {
  readonly quantity: Quantity;
  readonly max: number;
  /** The counted thing, such as `tool calls`. */
  readonly what: string;
  readonly unit?: string;
  readonly note?: string;
  readonly rest?: Partial<CheckOutcome>;
}): CheckOutcome {
  const { quantity, max, what, note, rest } = options;
  const unit = options.unit === undefined ? '' : ` ${options.unit}`;
  const value = quantity.exact ? quantity.value : quantity.atLeast;
  const sum =
    quantity.exact && quantity.claimed !== undefined
      ? `the sum of the calls; the recording reports ${number(quantity.claimed)}`
      : undefined;
  const notes = [sum, note].filter((one) => one !== undefined);
  const tail = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  const shown = `${quantity.exact ? '' : 'at least '}${number(forPeople(value, max))}${unit}`;
  const full = { limit: max, ...rest };
  if (isAbove(value, max))
    return violated(`${what}: ${shown}, limit ${number(max)}${unit}${tail}`, { value, ...full });
  if (!quantity.exact)
    return unmeasured(`${what}: not known, ${quantity.why}; limit ${number(max)}${unit}`, full);
  return held(`${what}: ${shown} of at most ${number(max)}${unit}${tail}`, { value, ...full });
}

/**
 * Compares a ratio with a lower limit. `isPartial` decides the verdict if calls are missing from
 * the trace.
 */
export function atLeast(options: {
  readonly value: number;
  readonly min: number;
  readonly what: string;
  /**
   * Some calls were not recorded. They could only raise the value (`rising`), or move it either way
   * (`open`).
   */
  readonly partial?: 'rising' | 'open';
  readonly note?: string;
  readonly rest?: Partial<CheckOutcome>;
}): CheckOutcome {
  const { value, min, what, partial, note, rest } = options;
  const tail = note === undefined ? '' : `; ${note}`;
  const isMissed = isBelow(value, min);
  if (partial === 'open' || (partial === 'rising' && isMissed)) {
    return unmeasured(
      `${what}: not known, not all tool calls were captured; minimum ${number(min)}`,
      {
        limit: min,
        ...rest,
      },
    );
  }
  const outcome = isMissed ? violated : held;
  const text = isMissed
    ? `${what}: ${number(rounded(value))}, minimum ${number(min)}`
    : `${what}: ${number(rounded(value))}, minimum ${number(min)}`;
  return outcome(`${text}${tail}`, { value, limit: min, ...rest });
}
