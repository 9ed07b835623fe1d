import { visibleNames } from '@agentci/lib/text';

/** Overlap of used and expected tools. Ignores repeats, and compares visible names. */
export interface ToolOverlap {
  /** Share of the expected tools that were used: |E ∩ U| / |E|. 1 if nothing is expected. */
  readonly recall: number;
  /**
   * Share of the used tools that were expected: |E ∩ U| / |U|. If nothing was used: 1 if nothing
   * was expected, else 0.
   */
  readonly precision: number;
  /** Harmonic mean of both. 0 if both are 0. */
  readonly f1: number;
}

export function toolOverlap(expected: Iterable<string>, used: Iterable<string>): ToolOverlap {
  const expectedSet = toolSet(expected);
  const usedSet = toolSet(used);
  let shared = 0;
  for (const name of expectedSet) if (usedSet.has(name)) shared++;
  const recall = expectedSet.size === 0 ? 1 : shared / expectedSet.size;
  let precision: number;
  if (usedSet.size > 0) precision = shared / usedSet.size;
  else if (expectedSet.size === 0) precision = 1;
  else precision = 0;
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { recall, precision, f1 };
}

const toolSet = (names: Iterable<string>): ReadonlySet<string> => new Set(visibleNames([...names]));
