import { requireNumber } from './sample.ts';

/** A small seeded random number generator (mulberry32). */
export function seededRandom(seed: number): () => number {
  requireNumber(seed, 'the seed');
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
