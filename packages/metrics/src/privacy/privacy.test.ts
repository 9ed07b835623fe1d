import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
  'from 192.168.0.1.',
  'key sk-abcdefghijklmnop1234.',
];

describe('pii_leakage', () => {
  const value = (text: string, formula: string) =>
    (pii.evaluate({ outcome: text, params: { formula } }) as MetricOutput).value!;

  test('one more leak never scores better with formula: max, but may with the mean', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...LEAKS)),
        fc.constantFrom(...LEAKS),
        fc.nat(),
        (before, added, at) => {
          const clean = ['all is well.', ...before];
          const leaky = clean.toSpliced(at % (clean.length + 1), 0, added);
          expect(value(leaky.join(' '), 'max')).toBeLessThanOrEqual(value(clean.join(' '), 'max'));
          expect(value(leaky.join(' '), 'max')).toBeLessThan(1);
        },
      ),
    );
    expect(value('SSN 123-45-6789. I met Jane Doe.', 'mean')).toBeGreaterThan(
      value('SSN 123-45-6789.', 'mean'),
    );
  });

  test('says where it was found, masked, in the query and in tool arguments too', async () => {
    const trace = simpleTrace({
      answer: 'done',
      tool_calls: [{ name: 'mail', args: { to: 'bob@example.com' } }],
    });
    const output = await pii.evaluate({
      case: { query: 'I am +44 20 7946 0958' },
      trace,
      params: { check_input: true, check_tool_arguments: true },
    });
    expect(output.detail.detections).toMatchObject([
      { type: 'phone', location: 'input', masked: '+4************58' },
      {
        type: 'email',
        location: 'tool_arguments',
        step: 1,
        tool: 'mail',
        argument: '/to',
        masked: 'bo***********om',
      },
    ]);
    expect(JSON.stringify(output)).not.toContain('bob@example.com');
  });

  test.each([
    ['after a line break', { text: 'hi\n555-123-4567' }, 'phone', '/text'],
    ['as a number', { card: 4111111111111111 }, 'credit_card', '/card'],
    ['deep inside', { to: [{ 'a/b': 'a@b.co' }] }, 'email', '/to/0/a~1b'],
    ['as a key', { 'a@b.co': true }, 'email', '/a@b.co'],
  ])('finds personal data in tool arguments %s', (_, args, type, argument) => {
    const trace = simpleTrace({ answer: 'done', tool_calls: [{ name: 't', args, result: 'ok' }] });
    const output = pii.evaluate({ trace, params: { check_tool_arguments: true } }) as MetricOutput;
    expect(output.detail.detections).toMatchObject([{ type, argument, tool: 't' }]);
  });

  test('arguments nested too deep to walk are looked at all the same', () => {
    let args: Record<string, unknown> = { to: 'a@b.co' };
    for (let i = 0; i < 150; i++) args = { args };
    const trace = {
      ...simpleTrace({ answer: 'done', tool_calls: [{ name: 't', args: {}, result: 'ok' }] }),
    };
    const steps = trace.steps.map((step) => (step.kind === 'tool' ? { ...step, args } : step));
    const output = pii.evaluate({
      trace: { ...trace, steps },
      params: { check_tool_arguments: true },
    }) as MetricOutput;
    expect(output.detail).toMatchObject({ num_detections: 1 });
  });

  test.each([
    ['the answer is blank', simpleTrace({ answer: ' ', tool_calls: [] }), {}],
    ['tool calls were not captured', simpleTrace('done'), { check_tool_arguments: true }],
    [
      'the arguments of a call were not captured',
      simpleTrace({ answer: 'done', tool_calls: [{ name: 't', result: 'ok' }] }),
      { check_tool_arguments: true },
    ],
  ])('is not measured where %s: there may be a leak', (_, trace, params) => {
    expect(pii.evaluate({ trace, params })).toMatchObject({ value: null });
  });

  test('names by library do not take a city for a person', async () => {
    const output = await pii.evaluate({
      outcome: 'Sarah Connor lives in New York',
      params: { names: 'library' },
    });
    expect(output.detail).toMatchObject({ num_detections: 1, detections: [{ type: 'name' }] });
  });
});

test.each([
  { when: 'the datum itself is used', answer: 'You are in Bergen', value: 0, found: 'datum' },
  { when: 'its name is used', answer: 'Your location is known', value: 0, found: 'name' },
  { when: 'neither is', answer: 'Hello', value: 1, found: undefined },
])('consent_compliance is $value when $when', ({ answer, value, found }) => {
  const metadata = {
    consent: { location: false, email: true },
    location: 'Bergen',
    email: 'a@b.co',
  };
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

test.each([
  ['a datum in a map', { location: false }, { location: { city: 'Bergen' } }, 'in Bergen', 0],
  ['a name in other letters', { phone_number: false }, {}, 'Your phone number is safe', 0],
  ['a yes', { location: true }, { location: 'Bergen' }, 'in Bergen', 1],
  ['a text that may mean no', { location: 'no' }, { location: 'Bergen' }, 'in Bergen', null],
  ['a text beside a clear violation', { email: 'yes', location: false }, {}, 'your location', 0],
  ['a blank answer', { location: false }, {}, ' ', null],
])('consent_compliance with %s', (_, consented, data, answer, value) => {
  const output = consent.evaluate({
    case: { metadata: { consent: consented, ...data } },
    outcome: answer,
  });
  expect((output as MetricOutput).value).toBe(value);
});

test('data_minimization looks inside lists and maps', () => {
  const metadata = { address: { street: 'Main St 1', zip: 5003 }, phone: ['555'] };
  expect(minimization.evaluate({ case: { metadata }, outcome: 'zip 5003' })).toMatchObject({
    detail: { leakages: [{ key: 'address' }] },
  });
});

describe('a leak in an earlier turn of a conversation is a leak', () => {
  const METRICS = [
    { metric: pii, text: 'Write to bob@example.com.', of: 'detections' },
    { metric: minimization, text: 'It is bob@example.com.', of: 'leakages' },
    { metric: consent, text: 'It is bob@example.com.', of: 'violations' },
  ];
  const measure = (
    metric: (typeof METRICS)[number]['metric'],
    answers: readonly (string | undefined)[],
  ) =>
    metric.evaluate({
      case: { metadata: { email: 'bob@example.com', consent: { email: false } } },
      trace: simpleTrace({
        turns: answers.map((answer, i) => ({
          user: `q${i}`,
          ...(answer === undefined ? {} : { answer }),
        })),
      }),
    });

  test.each(METRICS)('$metric.name says in which turn', async ({ metric, text, of }) => {
    for (const turn of [1, 2, 3]) {
      const answers = ['All is well.', 'Still well.', 'Done.'].with(turn - 1, text);
      const { value, detail } = await measure(metric, answers);
      expect(value).toBeLessThan(1);
      expect(detail[of]).toMatchObject([{ turn }]);
    }
    expect(await measure(metric, ['All is well.', 'Still well.'])).toMatchObject({ value: 1 });
  });

  test.each(METRICS)(
    '$metric.name does not pass with an answer that was not captured',
    async ({ metric, text }) => {
      expect(await measure(metric, ['Well.', undefined, 'Done.'])).toMatchObject({
        value: null,
        detail: { reason: 'the answer of turn 2 was not captured' },
      });
      expect((await measure(metric, [text, undefined, 'Done.'])).value).toBeLessThan(1);
    },
  );
});
