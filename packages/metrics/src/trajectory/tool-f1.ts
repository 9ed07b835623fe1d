import { toolOverlap } from './tool-overlap.ts';

/** Harmonic mean of tool precision and recall. 0 if both are 0. */
export const toolF1 = (expected: Iterable<string>, used: Iterable<string>): number =>
  toolOverlap(expected, used).f1;
