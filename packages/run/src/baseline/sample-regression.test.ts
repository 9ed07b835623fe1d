import { expect, test } from 'vitest';
import { compareSamples } from './sample-regression.ts';

test.each([
  {
    what: 'a drop of samples that do not vary',
    baseline: [1, 1, 1],
    current: [0.3, 0.3, 0.3],
    severity: 'critical',
  },
  {
    what: 'a small drop of such samples',
    baseline: [1, 1, 1],
    current: [0.93, 0.93, 0.93],
    severity: 'minor',
  },
  {
    what: 'a drop too small to care about',
    baseline: [1, 1, 1],
    current: [0.97, 0.97, 0.97],
    severity: 'none',
  },
  { what: 'a rise', baseline: [0.3, 0.3], current: [1, 1], severity: 'none' },
  {
    what: 'nothing but rounding',
    baseline: [0.3, 0.3],
    current: [0.1 + 0.2, 0.1 + 0.2],
    severity: 'none',
  },
  { what: 'a drop from zero', baseline: [0, 0, 0], current: [-5, -5, -5], severity: 'critical' },
  { what: 'samples of one value', baseline: [1], current: [0.3], severity: null },
  { what: 'an empty sample', baseline: [1, 1], current: [], severity: null },
  { what: 'a drop that may be chance', baseline: [1, 0, 1], current: [0, 1, 0], severity: 'none' },
])('$what has severity $severity', ({ baseline, current, severity }) => {
  const is_regression = severity === null ? null : severity !== 'none';
  expect(compareSamples({ baseline, current, higherIsBetter: true })).toMatchObject({
    is_regression,
    severity,
  });
  const mirrored = {
    baseline: baseline.map((n) => -n),
    current: current.map((n) => -n),
    higherIsBetter: false,
  };
  expect(compareSamples(mirrored)).toMatchObject({ is_regression, severity });
});
