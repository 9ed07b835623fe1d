import { expect, test } from 'vitest';
import { parseSpec } from './parse-spec.ts';

const diagnose = (metrics: string, root = '') =>
  parseSpec(
    `agent: a\n${root}\nqueries:\n  - {query: q, path: {max_loops: 1}, metrics: ${metrics}}\n`,
    {
      file: 's.yaml',
    },
  ).diagnostics;

test.each([
  [
    'an unknown name',
    '[faithfullness]',
    {
      severity: 'error',
      code: 'SPEC_VALUE',
      line: 4,
      hint: 'did you mean "faithfulness"?',
    },
  ],
  [
    'an unknown parameter',
    '{pii_leakage: {min: 1, formla: max}}',
    { code: 'SPEC_UNKNOWN_KEY', line: 4 },
  ],
  [
    'a parameter of the wrong type',
    '{pii_leakage: {check_input: 1}}',
    { code: 'SPEC_VALUE', line: 4 },
  ],
  ['a wrong choice', '{faithfulness: {method: magic}}', { code: 'SPEC_VALUE', line: 4 }],
  ['a percentage', '{tool_success: 90}', { code: 'SPEC_VALUE', hint: '90 percent is 0.9' }],
  ['bounds that exclude each other', '{latency: {min: 2, max: 1}}', { code: 'SPEC_VALUE' }],
  ['a metric listed twice', '[cost, {cost: 1}]', { code: 'SPEC_DUPLICATE' }],
  [
    'a lower bound that cannot fail',
    '{tool_success: 0}',
    { severity: 'warning', code: 'SPEC_CANNOT_FAIL' },
  ],
  [
    'an upper bound that cannot fail',
    '{hallucination_rate: 1}',
    { severity: 'warning', code: 'SPEC_CANNOT_FAIL' },
  ],
])('%s is reported at its place', (_, metrics, expected) => {
  expect(diagnose(metrics)).toMatchObject([expected]);
});

test.each([
  '[faithfulness]',
  '{cost: 500, latency: {max: 100}}',
  '{pii_leakage: {min: 1, severity_weights: {ssn: 0.5}}}',
  '[{privacy_budget: {min: 0.1, total_budget: 3}}]',
])('%s is fine', (metrics) => {
  expect(diagnose(metrics)).toEqual([]);
});

test('with "use" an unknown name may be one of the modules, and a near miss is a warning', () => {
  expect(diagnose('{tone: 1}', 'use: [./tone.ts]')).toEqual([]);
  expect(diagnose('{faithfullness: 0.5}', 'use: [./tone.ts]')).toMatchObject([
    { severity: 'warning', code: 'SPEC_VALUE' },
  ]);
});

test('a query that only measures checks nothing', () => {
  const { diagnostics } = parseSpec('agent: a\nqueries: [{query: q, metrics: [latency]}]');
  expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'SPEC_NO_CHECKS' }]);
});
