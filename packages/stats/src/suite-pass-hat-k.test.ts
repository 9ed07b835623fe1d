import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { suitePassHatK } from './suite-pass-hat-k.ts';

describe('pass^k of a suite', () => {
  test('is the mean over tasks, with the standard error over tasks', () => {
    // Four trials each: all passed, half passed, none passed. pass^2 of two in four is 1/6.
    const found = suitePassHatK(
      [
        { n: 4, c: 4 },
        { n: 4, c: 2 },
        { n: 4, c: 0 },
      ],
      { maxK: 10 },
    );
    expect(found.map(({ k }) => k)).toEqual([1, 2, 3, 4]);
    expect(found[0]!.value).toBeCloseTo(0.5, 12);
    expect(found[0]!.se).toBeCloseTo(0.5 / Math.sqrt(3), 12);
    expect(found[1]!.value).toBeCloseTo((1 + 1 / 6 + 0) / 3, 12);
    expect(found[3]!.value).toBeCloseTo(1 / 3, 12);
  });

  test('counts the tasks that have at least k runs', () => {
    const found = suitePassHatK(
      [
        { n: 3, c: 3 },
        { n: 1, c: 0 },
      ],
      { maxK: 10 },
    );
    expect(found.map(({ tasks, se }) => [tasks, se === null])).toEqual([
      [2, false],
      [1, true],
      [1, true],
    ]);
  });

  test('no tasks, no numbers', () => {
    expect(suitePassHatK([], { maxK: 4 })).toEqual([]);
  });

  test('never rises with k if all tasks have equally many runs', () => {
    const task = fc.integer({ min: 0, max: 6 }).map((c) => ({ n: 6, c }));
    fc.assert(
      fc.property(fc.array(task, { minLength: 1 }), (tasks) => {
        const values = suitePassHatK(tasks, { maxK: 6 }).map(({ value }) => value);
        for (const [i, value] of values.entries())
          expect(value).toBeLessThanOrEqual((values[i - 1] ?? 1) + 1e-12);
      }),
    );
  });
});
