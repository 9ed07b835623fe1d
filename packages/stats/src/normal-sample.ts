import { requireNumber } from './sample.ts';

/** A source of normally distributed values from a source of chance (Box and Muller): the same seed gives the same values. */
export function normalSample(
  random: () => number,
  { mean, sd }: { readonly mean: number; readonly sd: number },
): () => number {
  requireNumber(mean, 'the mean');
  requireNumber(sd, 'the standard deviation', { min: 0 });
  return () => {
    // 1 − u, since u can be 0 and its logarithm then has no value.
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return mean + sd * radius * Math.cos(2 * Math.PI * random());
  };
}
