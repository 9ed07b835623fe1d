import { requireNumber } from './sample.ts';

/**
 * A pass rate corrected for an imperfect judge, from its hit rates on passes (TPR) and failures
 * (TNR) (Rogan and Gladen), clipped to 0…1. Null if the judge is no better than chance.
 */
export function judgeCorrectedRate(input: {
  readonly rate: number;
  readonly truePositiveRate: number;
  readonly trueNegativeRate: number;
}): number | null {
  for (const [name, rate] of Object.entries(input)) requireNumber(rate, name, { min: 0, max: 1 });
  const informed = input.truePositiveRate + input.trueNegativeRate - 1;
  if (!(informed > 0)) return null;
  return Math.min(1, Math.max(0, (input.rate + input.trueNegativeRate - 1) / informed));
}
