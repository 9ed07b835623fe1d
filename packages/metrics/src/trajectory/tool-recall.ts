import { toolOverlap } from './tool-overlap.ts';

/** Share of the expected tools that were used: |E ∩ U| / |E|. 1 when nothing is expected. Repeats do not count. */
export const toolRecall = (expected: Iterable<string>, used: Iterable<string>): number =>
  toolOverlap(expected, used).recall;
