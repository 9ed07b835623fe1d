import { requireNumber } from './sample.ts';

/**
 * A pass rate measured by an imperfect judge, corrected with how often it is right on passes (TPR) and on failures (TNR)
 * (Rogan and Gladen), clipped to 0…1. Null when the judge is no better than chance.
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
