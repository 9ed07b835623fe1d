import type { Step, Trace } from '@agentci/trace';
import { simpleTrace } from '@agentci/trace';
import { expect, test } from 'vitest';
import { pageTrace } from './page-trace.ts';

const event = (id: string, seq: number, rest: Partial<Step> = {}): Step =>
  ({ kind: 'event', id, seq, name: id, status: 'ok', ...rest }) as Step;
const traceOf = (steps: Step[]): Trace => ({ ...simpleTrace({ answer: 'ok' }), steps });

test.each([
  {
    when: 'steps are nested',
    steps: [event('a', 1), event('b', 2, { parent: 'a' }), event('c', 3, { parent: 'b' })],
    depths: [0, 1, 2],
  },
  { when: 'a parent is missing', steps: [event('a', 1, { parent: 'gone' })], depths: [0] },
  {
    when: 'parents go round in a circle',
    steps: [event('a', 1, { parent: 'b' }), event('b', 2, { parent: 'a' })],
    depths: [12, 12],
  },
])('depths are $depths when $when', ({ steps, depths }) => {
  expect(pageTrace(traceOf(steps)).steps.map(({ depth }) => depth)).toEqual(depths);
});

test('a long text says how much of it is missing', () => {
  const [step] = pageTrace(
    simpleTrace({ tool_calls: [{ name: 't', result: 'x'.repeat(10_000) }] }),
  ).steps;
  expect(step?.fields.at(-1)?.text).toMatch(/x… \(4000 more characters\)$/);
});

test('a long trace says how many steps are missing', () => {
  const { steps, left_out } = pageTrace(
    traceOf(Array.from({ length: 1500 }, (_, i) => event(`e${i}`, i + 1))),
  );
  expect({ shown: steps.length, left_out }).toEqual({ shown: 1000, left_out: 500 });
});

test.each([
  { when: 'it was recorded', cost: 0.5, expected: { cost_usd: 0.5 } },
  { when: 'a price is known', cost: undefined, expected: { cost_usd: 0.25, cost_computed: true } },
])('a model call has a cost when $when', ({ cost, expected }) => {
  const trace = simpleTrace({
    llm_calls: [
      {
        model: 'm',
        input_tokens: 10,
        output_tokens: 2,
        ...(cost === undefined ? {} : { cost_usd: cost }),
      },
    ],
  });
  expect(pageTrace(trace, () => ({ usd: 0.25, prices: 'p' })).steps).toMatchObject([
    { ...expected, input_tokens: 10 },
  ]);
});

test('tools that were not captured are unknown, not none', () => {
  expect(pageTrace(simpleTrace({ answer: 'a' })).tools).toBeNull();
  expect(pageTrace(simpleTrace({ answer: 'a', tool_calls: [] })).tools).toEqual([]);
});
