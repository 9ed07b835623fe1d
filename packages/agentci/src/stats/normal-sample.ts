/** A source of normally distributed values from a source of chance (Box and Muller): the same seed gives the same values. */
export function normalSample(
  random: () => number,
  { mean, sd }: { readonly mean: number; readonly sd: number },
): () => number {
  return () => {
    // 1 − u, since u can be 0 and its logarithm then has no value.
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return mean + sd * radius * Math.cos(2 * Math.PI * random());
  };
}
