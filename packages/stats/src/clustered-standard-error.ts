import { mean } from './descriptive.ts';
import { requireSameLength } from './interval.ts';

/**
 * Standard error of the mean of clustered values, such as repeats of one query. Corrected by C/(C −
 * 1) for few clusters. With equal cluster sizes it equals the standard error of the cluster means.
 * Null for one cluster.
 */
export function clusteredStandardError(
  values: readonly number[],
  clusters: readonly unknown[],
): number | null {
  requireSameLength(values, clusters, 'values and clusters');
  const middle = mean(values);
  if (middle === null) return null;
  const sums = new Map<unknown, number>();
  for (const [i, value] of values.entries()) {
    const cluster = clusters[i];
    sums.set(cluster, (sums.get(cluster) ?? 0) + (value - middle));
  }
  if (sums.size < 2) return null;
  let squares = 0;
  for (const sum of sums.values()) squares += sum * sum;
  return Math.sqrt((squares * sums.size) / (sums.size - 1)) / values.length;
}
