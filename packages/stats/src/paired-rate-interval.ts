import { type Interval, type IntervalOptions, levelOf, requireCounts } from './interval.ts';
import { wilsonAt } from './wilson-interval.ts';

export interface PairedVerdicts {
  readonly bothPass: number;
  readonly passToFail: number;
  readonly failToPass: number;
  readonly bothFail: number;
}

/**
 * Interval of the difference of two pass rates on the same items, before − after (Newcombe's paired
 * score method). Unlike the t interval it does not collapse if no verdict changed. Null for no
 * items.
 */
export function pairedRateInterval(
  verdicts: PairedVerdicts,
  options?: IntervalOptions,
): Interval | null {
  const { bothPass, passToFail, failToPass, bothFail } = verdicts;
  requireCounts({ bothPass, passToFail, failToPass, bothFail });
  return pairedRateAt(verdicts, levelOf(options));
}

/** The same for fractional counts: items that stand for several runs, or a hypothetical sample. */
export function pairedRateAt(verdicts: PairedVerdicts, level: number): Interval | null {
  const { bothPass, passToFail, failToPass, bothFail } = verdicts;
  const n = bothPass + passToFail + failToPass + bothFail;
  if (!(n > 0)) return null;
  const rateBefore = Math.min(1, (bothPass + passToFail) / n);
  const rateAfter = Math.min(1, (bothPass + failToPass) / n);
  const before = wilsonAt(rateBefore, n, level);
  const after = wilsonAt(rateAfter, n, level);
  const phi = correlation(verdicts, n);
  const half = (one: number, other: number): number =>
    Math.sqrt(Math.max(0, one ** 2 - 2 * phi * one * other + other ** 2));
  const difference = rateBefore - rateAfter;
  return {
    low: Math.max(-1, difference - half(rateBefore - before.low, after.high - rateAfter)),
    high: Math.min(1, difference + half(before.high - rateBefore, rateAfter - after.low)),
  };
}

/** Correlation of the two verdicts, with Newcombe's correction for small samples. */
function correlation(
  { bothPass, passToFail, failToPass, bothFail }: PairedVerdicts,
  n: number,
): number {
  const margins =
    (bothPass + passToFail) *
    (failToPass + bothFail) *
    (bothPass + failToPass) *
    (passToFail + bothFail);
  if (margins === 0) return 0;
  const product = bothPass * bothFail - passToFail * failToPass;
  const numerator = product > n / 2 ? product - n / 2 : Math.min(product, 0);
  return numerator / Math.sqrt(margins);
}
