import { mean } from './descriptive.ts';
import { passHatK } from './pass-at-k.ts';
import { standardError } from './standard-error.ts';

/** How often all k runs of a task pass, over the tasks of a suite. */
export interface SuitePassHatK {
  readonly k: number;
  readonly value: number;
  /** Standard error over tasks. Null below two. */
  readonly se: number | null;
  /** Tasks with at least k decided runs, which the value covers. */
  readonly tasks: number;
}

/**
 * pass^k of a suite for k = 1 … `maxK`: the mean over tasks of the chance that k decided runs of a
 * task all pass. Runs of one task are not independent, so the standard error is over tasks.
 */
export function suitePassHatK(
  tasks: readonly { readonly n: number; readonly c: number }[],
  options: { readonly maxK: number },
): SuitePassHatK[] {
  if (!Number.isInteger(options.maxK) || options.maxK < 1)
    throw new RangeError(`maxK is a whole number of at least 1, not ${options.maxK}`);
  const most = Math.min(options.maxK, Math.max(0, ...tasks.map(({ n }) => n)));
  return Array.from({ length: most }, (_, i) => i + 1).flatMap((k) => {
    const values = tasks.filter(({ n }) => n >= k).map(({ n, c }) => passHatK({ n, c, k })!);
    const value = mean(values);
    return value === null ? [] : [{ k, value, se: standardError(values), tasks: values.length }];
  });
}
