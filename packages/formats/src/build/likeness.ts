/**
 * Confidence of a sample as that of its worst record, so that one foreign record rules the format
 * out.
 */
export const worst = (sample: readonly unknown[], likeness: (value: unknown) => number): number =>
  sample.length === 0 ? 0 : Math.min(...sample.map(likeness));

/** Confidence of a sample as that of its best record, and 0 if any record is foreign. */
export function best(sample: readonly unknown[], likeness: (value: unknown) => number): number {
  const scores = sample.map(likeness);
  return scores.length === 0 || scores.includes(0) ? 0 : Math.max(...scores);
}

const ENOUGH = 0.7;

/**
 * Confidence of a sample with stray records, such as logs that people append to: that of the best
 * record, if most records fit.
 */
export function most(sample: readonly unknown[], likeness: (value: unknown) => number): number {
  const scores = sample.map(likeness).filter((score) => score > 0);
  return scores.length > 0 && scores.length >= ENOUGH * sample.length ? Math.max(...scores) : 0;
}
