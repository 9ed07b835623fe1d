import { toolOverlap } from './tool-overlap.ts';

/**
 * Share of the used tools that were expected: |E ∩ U| / |U|. If nothing was used: 1 if nothing was
 * expected, else 0.
 */
export const toolPrecision = (expected: Iterable<string>, used: Iterable<string>): number =>
  toolOverlap(expected, used).precision;
