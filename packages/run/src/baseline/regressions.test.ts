import vectors from '@agentci/testing/vectors/regression.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { findRegressions, severityOf, thresholdPercent } from './regression-thresholds.ts';
import { compareSamples } from './sample-regression.ts';

interface Row<Input> {
  readonly id: string;
  readonly kind: string;
  readonly input: Input;
  readonly expected: Record<string, unknown>;
}
const rows = <Input>(kind: string) =>
  (vectors as unknown as Row<Input>[]).filter((row) => row.kind === kind);

interface Thresholds {
  readonly baseline: Record<string, number>;
  readonly current: Record<string, number>;
  readonly thresholds: null;
  readonly fail_on_severity: 'medium';
}
interface Samples {
  readonly baseline: number[];
  readonly new: number[];
  readonly higher_is_better: boolean;
}

test.each(rows<Thresholds>('regression.threshold'))(
  '$id: relative thresholds',
  ({ input, expected }) => {
    const { baseline, current, thresholds, fail_on_severity: failOnSeverity } = input;
    expect(findRegressions({ baseline, current, thresholds, failOnSeverity })).toMatchObject(
      expected,
    );
  },
);

test.each(rows<Samples>('regression.statistical'))('$id: two samples', ({ input, expected }) => {
  const found = compareSamples({
    baseline: input.baseline,
    current: input.new,
    higherIsBetter: input.higher_is_better,
  });
  const { p_value, cohens_d, ...rest } = expected as Record<string, number>;
  const close = Object.entries(rest).map(([key, value]) => [
    key,
    typeof value === 'number' ? expect.closeTo(value, 9) : value,
  ]);
  expect(found).toMatchObject(Object.fromEntries(close));
  expect(found.p_value! / p_value!).toBeCloseTo(1, 6);
  expect(found.cohens_d).toBeCloseTo(cohens_d!, 9);
});

describe('thresholds by name', () => {
  test.each([
    { metric: 'accuracy', percent: 5 },
    { metric: 'tool_recall', percent: 5 },
    { metric: 'pass_rate', percent: 5 },
    { metric: 'latency_ms', percent: 20 },
    { metric: 'total_tokens', percent: 25 },
    { metric: 'cost_usd', percent: 30 },
    { metric: 'anything', percent: 10 },
  ])('$metric may lose $percent %', ({ metric, percent }) => {
    expect(thresholdPercent(metric)).toBe(percent);
  });

  test.each([
    { ratio: 1.1, severity: 'low' },
    { ratio: 1.5, severity: 'medium' },
    { ratio: 2, severity: 'high' },
    { ratio: 3, severity: 'critical' },
  ] as const)('$ratio times the threshold is $severity', ({ ratio, severity }) => {
    expect(severityOf(ratio)).toBe(severity);
  });

  test('a metric called like something every object has is a metric like any other', () => {
    const current = JSON.parse('{"__proto__": 1, "constructor": 0.5}') as Record<string, number>;
    expect(findRegressions({ baseline: {}, current }).alerts).toEqual([]);
    expect(
      findRegressions({ baseline: { constructor: 1 } as never, current }).alerts,
    ).toMatchObject([{ metric: 'constructor' }]);
  });
});
