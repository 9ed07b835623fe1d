/** How well a sample fits: as well as its worst record, so that one foreign record speaks against the format. */
export const worst = (sample: readonly unknown[], likeness: (value: unknown) => number): number =>
  sample.length === 0 ? 0 : Math.min(...sample.map(likeness));
