import { expect, test } from 'vitest';
import type { Label } from './labels.ts';
import { raterPairs } from './rater-agreement.ts';

const labelsOf = (rater: string, said: string): Label[] =>
  [...said].map((label, i) => ({
    id: `a${i}`,
    query: '',
    answer: '',
    human: label === 'p',
    rater,
  }));

test.each([
  ['one rater gave one label only', 'ppppp', 'ppfpp'],
  ['both gave one label only', 'ppppp', 'ppppp'],
  ['they gave opposite labels throughout', 'ppppp', 'fffff'],
])('%s: kappa is undefined and has no interval', (_, a, b) => {
  expect(raterPairs([...labelsOf('ada', a), ...labelsOf('ben', b)])).toMatchObject([
    { n: 5, kappa: null, kappa_interval: null },
  ]);
});

test('raters who use both labels get a kappa', () => {
  const [pair] = raterPairs([...labelsOf('ada', 'ppffpfpfpf'), ...labelsOf('ben', 'ppffpfpfpp')]);
  expect(pair?.kappa).toBeCloseTo(0.8, 9);
  expect(pair?.kappa_interval?.high).toBeLessThanOrEqual(1);
});
