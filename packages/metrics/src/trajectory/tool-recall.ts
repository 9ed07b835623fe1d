import { toolOverlap } from './tool-overlap.ts';

/**
 * Share of the expected tools that were used: |E ∩ U| / |E|. 1 if nothing is expected. Ignores
 * repeats.
 */
export const toolRecall = (expected: Iterable<string>, used: Iterable<string>): number =>
  toolOverlap(expected, used).recall;
