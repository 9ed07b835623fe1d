import { normalQuantile } from './normal.ts';

import { requireNumber } from './sample.ts';

interface TestOptions {
  /** Chance of a false alarm. Default: 0.05. */
  readonly alpha?: number;
  /** Chance to detect a difference of this size. Default: 0.8. */
  readonly power?: number;
  readonly sides?: 1 | 2;
}

/** Variance of paired scores, between items and within an item over its repeats. */
export interface PairedVariance {
  /** Variance of the true differences between items. */
  readonly variance: number;
  /** Variance of one run around its item, per side. 0 if `variance` already includes it. */
  readonly noiseA?: number;
  readonly noiseB?: number;
  /** Repeats per side. Default: 1. */
  readonly runsA?: number;
  readonly runsB?: number;
}

/** How often paired verdicts differ, in each direction. */
export interface DiscordantRates {
  readonly passToFail: number;
  readonly failToPass: number;
}

/**
 * Items needed to detect a difference in paired scores (`effect`, variances) or paired verdicts
 * (two rates). Null if the difference is zero.
 */
export function requiredSampleSize(
  input: TestOptions & ((PairedVariance & { readonly effect: number }) | DiscordantRates),
): number | null {
  const { za, zb } = zOf(input);
  if ('passToFail' in input) {
    requireNumber(input.passToFail, 'passToFail', { min: 0, max: 1 });
    requireNumber(input.failToPass, 'failToPass', { min: 0, max: 1 });
    requireNumber(input.passToFail + input.failToPass, 'the sum of both rates', {
      min: 0,
      max: 1 + 1e-9,
    });
    const discordant = input.passToFail + input.failToPass;
    const effect = Math.abs(input.passToFail - input.failToPass);
    if (!(effect > 0)) return null;
    const root = za * Math.sqrt(discordant) + zb * Math.sqrt(Math.max(0, discordant - effect ** 2));
    return whole((root / effect) ** 2);
  }
  requireNumber(input.effect, 'the effect');
  const effect = Math.abs(input.effect);
  return effect > 0 ? whole(((za + zb) ** 2 * total(input)) / effect ** 2) : null;
}

/** The smallest difference in paired scores that n items can detect. Null for no items. */
export function minimumDetectableEffect(
  input: TestOptions & PairedVariance & { readonly n: number },
): number | null {
  const { za, zb } = zOf(input);
  requireNumber(input.n, 'n', { min: 0 });
  return input.n > 0 ? (za + zb) * Math.sqrt(total(input) / input.n) : null;
}

function total({ variance, noiseA = 0, noiseB = 0, runsA = 1, runsB = 1 }: PairedVariance): number {
  for (const [what, value] of Object.entries({ variance, noiseA, noiseB }))
    requireNumber(value, what, { min: 0 });
  for (const [what, value] of Object.entries({ runsA, runsB }))
    requireNumber(value, what, { min: 1 });
  return variance + noiseA / runsA + noiseB / runsB;
}

function zOf({ alpha = 0.05, power = 0.8, sides = 2 }: TestOptions): { za: number; zb: number } {
  if (!(alpha > 0 && alpha < 1 && power > 0 && power < 1))
    throw new RangeError('alpha and power are between 0 and 1');
  if (sides !== 1 && sides !== 2)
    throw new RangeError(`a test has 1 or 2 sides, not ${String(sides)}`);
  return { za: -normalQuantile(alpha / sides), zb: normalQuantile(power) };
}

/** Rounds up, but ignores rounding errors: 969.0000000001 items are 969. */
const whole = (n: number): number => Math.max(1, Math.ceil(n - 1e-9 * n));
