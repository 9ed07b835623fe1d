import type { Trace } from '@agentci/trace';
import { simpleTrace, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { check } from './outcome.ts';

function evaluate(bounds: Parameters<typeof check.evaluate>[0], outcomes: Trace['outcomes']) {
  const trace = {
    ...simpleTrace({ answer: 'ok' }),
    ...(outcomes === undefined ? {} : { outcomes }),
  };
  return check.evaluate(bounds, { trace, totals: totals(trace), siblings: {} });
}
const reward = (value: number | boolean | string) => [{ name: 'reward', value, by: 'bench' }];

test.each([
  { when: 'the reward is reached', bounds: { min: 1 }, outcomes: reward(1), outcome: 'held' },
  { when: 'the reward is missed', bounds: { min: 1 }, outcomes: reward(0.5), outcome: 'violated' },
  { when: 'it is true', bounds: { min: 1 }, outcomes: reward(true), outcome: 'held' },
  { when: 'it is false', bounds: { min: 1 }, outcomes: reward(false), outcome: 'violated' },
  { when: 'it is at most the maximum', bounds: { max: 0 }, outcomes: reward(0), outcome: 'held' },
  {
    when: 'it is above the maximum',
    bounds: { max: 0 },
    outcomes: reward(0.1),
    outcome: 'violated',
  },
  { when: 'the grade is right', bounds: { equals: 'C' }, outcomes: reward('C'), outcome: 'held' },
  {
    when: 'the grade is wrong',
    bounds: { equals: 'C' },
    outcomes: reward('I'),
    outcome: 'violated',
  },
  {
    when: 'a number is held against a grade',
    bounds: { min: 1 },
    outcomes: reward('C'),
    outcome: 'unmeasured',
  },
  {
    when: 'one of two scorers says no',
    bounds: { min: 1 },
    outcomes: [...reward(1), ...reward(0)],
    outcome: 'violated',
  },
  { when: 'no outcome is carried', bounds: { min: 1 }, outcomes: undefined, outcome: 'unmeasured' },
  {
    when: 'another outcome is carried',
    bounds: { min: 1 },
    outcomes: [{ name: 'rewards', value: 1 }],
    outcome: 'unmeasured',
  },
])('is $outcome when $when', ({ bounds, outcomes, outcome }) => {
  expect(evaluate({ name: 'reward', ...bounds }, outcomes).outcome).toBe(outcome);
});

test('the number, its limit and who gave it are in the message', () => {
  expect(evaluate({ name: 'reward', min: 1 }, reward(0)).message).toBe(
    'outcome reward: 0 by bench, minimum 1',
  );
});

test('a misspelt name gets the list of existing ones', () => {
  const { message } = evaluate({ name: 'rewrad', min: 1 }, reward(1));
  expect(message).toContain('did you mean "reward"?');
});

describe('a check that cannot fail is refused', () => {
  test('no bound', () => {
    expect(check.inspect?.({ name: 'reward' }, {})).toMatchObject([{ code: 'SPEC_CANNOT_FAIL' }]);
  });
  test('bounds that contradict each other', () => {
    expect(check.inspect?.({ name: 'reward', min: 2, max: 1 }, {})).toMatchObject([
      { code: 'SPEC_CONTRADICTION' },
    ]);
  });
});
