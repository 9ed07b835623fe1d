/** How well a sample fits: as well as its worst record, so that one foreign record speaks against the format. */
export const worst = (sample: readonly unknown[], likeness: (value: unknown) => number): number =>
  sample.length === 0 ? 0 : Math.min(...sample.map(likeness));

/**
 * How well a sample fits where every record must be possible and some of them tell: as well as its best record, and not at
 * all when one is foreign.
 */
export function best(sample: readonly unknown[], likeness: (value: unknown) => number): number {
  const scores = sample.map(likeness);
  return scores.length === 0 || scores.includes(0) ? 0 : Math.max(...scores);
}

const ENOUGH = 0.7;

/**
 * How well a sample fits where stray records are expected: logs that people append to, private formats that grow new kinds
 * of lines. Most records must fit; then it fits as well as the best of them.
 */
export function most(sample: readonly unknown[], likeness: (value: unknown) => number): number {
  const scores = sample.map(likeness).filter((score) => score > 0);
  return scores.length > 0 && scores.length >= ENOUGH * sample.length ? Math.max(...scores) : 0;
}
