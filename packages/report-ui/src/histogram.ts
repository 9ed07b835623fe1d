const MAX_BINS = 24;

/** Counts of sorted values in bins of one width. Values that are all the same make one bin. */
export function histogram(sorted: readonly number[]): { centers: number[]; counts: number[] } {
  const low = sorted[0];
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) return { centers: [], counts: [] };
  const bins = Math.min(MAX_BINS, Math.max(4, Math.ceil(Math.sqrt(sorted.length))));
  const width = (high - low) / bins;
  // Equal, or too close together for their difference to be divided.
  if (width === 0) return { centers: [low], counts: [sorted.length] };
  const counts = new Array<number>(bins).fill(0);
  for (const value of sorted) counts[Math.min(bins - 1, Math.floor((value - low) / width))]!++;
  return { centers: counts.map((_, i) => low + (i + 0.5) * width), counts };
}
