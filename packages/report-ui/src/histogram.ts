const MAX_BINS = 24;

/**
 * Divides sorted values into bins of equal width, and returns the bin of each value. Equal values
 * make one bin.
 */
export function binsOf(sorted: readonly number[]): {
  centers: number[];
  binOf: (value: number) => number;
} {
  const low = sorted[0];
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) return { centers: [], binOf: () => 0 };
  const bins = Math.min(MAX_BINS, Math.max(4, Math.ceil(Math.sqrt(sorted.length))));
  const width = (high - low) / bins;
  // Equal, or too close for a positive width.
  if (width === 0) return { centers: [low], binOf: () => 0 };
  return {
    centers: Array.from({ length: bins }, (_, i) => low + (i + 0.5) * width),
    binOf: (value) => Math.min(bins - 1, Math.floor((value - low) / width)),
  };
}

/** Counts sorted values in bins of equal width. */
export function histogram(sorted: readonly number[]): { centers: number[]; counts: number[] } {
  const { centers, binOf } = binsOf(sorted);
  const counts = centers.map(() => 0);
  for (const value of sorted) counts[binOf(value)]!++;
  return { centers, counts };
}
