import { called, describeCheck, evaluate } from '@agentci/testing/check-cases';
import { expect, test } from 'vitest';
import { setting } from './sequence-metric.ts';

describeCheck(setting, {
  issues: [
    { block: { sequence_metric: 'edit' }, found: ['error SPEC_NEEDS_KEY'] },
    { block: { sequence_metric: 'edit', min_sequence_similarity: 0.5 }, found: [] },
  ],
  refuses: ['dtw'],
});

test.each([
  { metric: undefined, used: ['b', 'a'], value: 0.5 },
  { metric: 'lcs', used: ['b', 'a'], value: 0.5 },
  { metric: 'edit', used: ['b', 'a'], value: 0 },
])('$metric measures $value, and is a setting rather than a check', ({ metric, used, value }) => {
  const block = {
    min_sequence_similarity: 0.9,
    ...(metric === undefined ? {} : { sequence_metric: metric }),
  };
  const result = evaluate('path', block, called(...used), { baseline: called('a', 'b') });
  expect(result.details.sequence_similarity).toBe(value);
  expect(result.checks.some(({ id }) => id === 'path.sequence_metric')).toBe(false);
});
