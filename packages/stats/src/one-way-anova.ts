import { mean } from './descriptive.ts';
import { incompleteBeta } from './incomplete-beta.ts';
import { requireNumbers, varies } from './sample.ts';

export interface OneWayAnova {
  readonly f: number | null;
  /** Between and within groups. */
  readonly df: readonly [number, number] | null;
  readonly p: number | null;
  /** Share of the variation that lies between the groups. */
  readonly etaSquared: number | null;
}

const UNDEFINED: OneWayAnova = { f: null, df: null, p: null, etaSquared: null };

/**
 * Tests whether several means differ, assuming equal spread. All null for fewer than two groups, or
 * if no group varies.
 */
export function oneWayAnova(groups: readonly (readonly number[])[]): OneWayAnova {
  for (const group of groups) requireNumbers(group, 'the values of a group');
  const filled = groups.filter((group) => group.length > 0);
  const all = filled.flat();
  const df: readonly [number, number] = [filled.length - 1, all.length - filled.length];
  // Sums of equal values carry rounding errors that would look like variation.
  if (df[0] < 1 || df[1] < 1 || !filled.some((group) => varies(group))) return UNDEFINED;
  const grand = mean(all)!;
  let between = 0;
  let within = 0;
  for (const group of filled) {
    const middle = mean(group)!;
    between += group.length * (middle - grand) ** 2;
    if (varies(group)) for (const value of group) within += (value - middle) ** 2;
  }
  const f = between / df[0] / (within / df[1]);
  const p = incompleteBeta(df[1] / (df[1] + df[0] * f), df[1] / 2, df[0] / 2);
  return { f, df, p, etaSquared: between / (between + within) };
}
