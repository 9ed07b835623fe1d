import { requireNumber } from './sample.ts';

/** A source of normally distributed values from a uniform one (Box and Muller). */
export function normalSample(
  random: () => number,
  { mean, sd }: { readonly mean: number; readonly sd: number },
): () => number {
  requireNumber(mean, 'the mean');
  requireNumber(sd, 'the standard deviation', { min: 0 });
  return () => {
    // 1 − u, because u can be 0, and 0 has no logarithm.
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return mean + sd * radius * Math.cos(2 * Math.PI * random());
  };
}
