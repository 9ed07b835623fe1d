import { requireNumber, requireNumbers } from './sample.ts';
import { seededRandom } from './seeded-random.ts';

/** Up to this size every sign pattern is tried; beyond it patterns are sampled. */
const EXACT_UP_TO = 12;
const DEFAULT_SAMPLES = 9999;
/** The same numbers summed in another order differ in their last digits. */
const DUST = 1e-12;

/**
 * Two-sided test of paired differences: if signs were random, how often would the mean be this far
 * from 0? Exact for small samples, sampled with the seed for larger ones. Null for no pairs.
 */
export function signFlipTest(
  differences: readonly number[],
  options: { readonly seed: number; readonly samples?: number },
): number | null {
  requireNumbers(differences, 'the differences');
  requireNumber(options.seed, 'the seed');
  requireNumber(options.samples ?? DEFAULT_SAMPLES, 'the number of samples', { min: 1 });
  if (differences.length === 0) return null;
  // Flipping the sign of a zero does not change the sum.
  const moved = differences.filter((difference) => difference !== 0);
  if (moved.length === 0) return 1;
  let size = 0;
  let observed = 0;
  for (const difference of moved) {
    observed += difference;
    size += Math.abs(difference);
  }
  const reached = Math.abs(observed) - DUST * size;
  if (moved.length <= EXACT_UP_TO) return counted(moved, reached);
  const random = seededRandom(options.seed);
  const samples = Math.max(1, Math.floor(options.samples ?? DEFAULT_SAMPLES));
  let asFar = 0;
  for (let i = 0; i < samples; i++) {
    let sum = 0;
    let bits = 0;
    for (let j = 0; j < moved.length; j++) {
      // One draw gives 32 signs.
      if (j % 32 === 0) bits = Math.floor(random() * 2 ** 32);
      sum += (bits >>> (j % 32)) & 1 ? moved[j]! : -moved[j]!;
    }
    if (Math.abs(sum) >= reached) asFar++;
  }
  return (1 + asFar) / (samples + 1);
}

function counted(moved: readonly number[], reached: number): number {
  const patterns = 2 ** moved.length;
  let asFar = 0;
  for (let pattern = 0; pattern < patterns; pattern++) {
    let sum = 0;
    for (const [i, difference] of moved.entries())
      sum += (pattern >> i) & 1 ? difference : -difference;
    if (Math.abs(sum) >= reached) asFar++;
  }
  return asFar / patterns;
}
