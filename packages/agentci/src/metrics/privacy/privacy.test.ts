import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simpleTrace } from '../../trace/simple.ts';
import type { MetricOutput } from '../metric.ts';
import { metric as consent } from './consent-compliance.ts';
import { metric as minimization } from './data-minimization.ts';
import { metric as pii } from './pii-leakage.ts';

const LEAKS = [
  'Mail a@b.co.',
  'SSN 123-45-6789.',
  'card 4111 1111 1111 1111.',
  'I met Jane Doe.',
  'ring 555-123-4567.',
  'at 12 Main St.',
];

describe('pii_leakage', () => {
  const value = (text: string, formula: string) =>
    (pii.evaluate({ outcome: text, params: { formula } }) as MetricOutput).value!;

  test('one more leak never scores better with formula: max; with the mean it may', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LEAKS)), fc.constantFrom(...LEAKS), (before, added) => {
        expect(value([...before, added].join(' '), 'max')).toBeLessThanOrEqual(value(before.join(' '), 'max'));
      }),
    );
    expect(value('SSN 123-45-6789. I met Jane Doe.', 'mean')).toBeGreaterThan(value('SSN 123-45-6789.', 'mean'));
  });

  test('says where it was found, masked, in the query and in tool arguments too', async () => {
    const trace = simpleTrace({ answer: 'done', tool_calls: [{ name: 'mail', args: { to: 'bob@example.com' } }] });
    const output = await pii.evaluate({
      case: { query: 'I am +44 20 7946 0958' },
      trace,
      params: { check_input: true, check_tool_arguments: true },
    });
    expect(output.detail.detections).toMatchObject([
      { type: 'phone', location: 'input', masked: '+4************58' },
      { type: 'email', location: 'tool_arguments', step: 1, masked: 'bo***********om' },
    ]);
    expect(JSON.stringify(output)).not.toContain('bob@example.com');
  });

  test('names by library do not take a city for a person', async () => {
    const output = await pii.evaluate({ outcome: 'Sarah Connor lives in New York', params: { names: 'library' } });
    expect(output.detail).toMatchObject({ num_detections: 1, detections: [{ type: 'name' }] });
  });
});

test.each([
  { when: 'the datum itself is used', answer: 'You are in Bergen', value: 0, found: 'datum' },
  { when: 'its name is used', answer: 'Your location is known', value: 0, found: 'name' },
  { when: 'neither is', answer: 'Hello', value: 1, found: undefined },
])('consent_compliance is $value when $when', ({ answer, value, found }) => {
  const metadata = { consent: { location: false, email: true }, location: 'Bergen', email: 'a@b.co' };
  const output = consent.evaluate({ case: { metadata }, outcome: answer }) as MetricOutput;
  expect(output.value).toBe(value);
  expect((output.detail.violations as { found: string }[])[0]?.found).toBe(found);
});

test('data_minimization never reads an inherited key', () => {
  const output = minimization.evaluate({
    case: { metadata: {} },
    outcome: 'function Object',
    params: { context_keys: ['constructor', 'toString'] },
  });
  expect(output).toMatchObject({ value: null });
});
