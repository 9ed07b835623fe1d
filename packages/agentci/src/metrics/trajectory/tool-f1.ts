import { toolPrecision } from './tool-precision.ts';
import { toolRecall } from './tool-recall.ts';

/** Harmonic mean of tool precision and recall; 0 when both are 0. */
export function toolF1(expected: Iterable<string>, used: Iterable<string>): number {
  const expectedSet = new Set(expected);
  const usedSet = new Set(used);
  const precision = toolPrecision(expectedSet, usedSet);
  const recall = toolRecall(expectedSet, usedSet);
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
}
