import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { metric as toolSuccess } from '../quality/tool-success.ts';
import { metric as cost } from './cost.ts';
import { metric as latency } from './latency.ts';
import { metric as tokenUsage } from './token-usage.ts';

const call = { model: 'm', input_tokens: 100, output_tokens: 20 };

describe('cost', () => {
  const price = () => ({ usd: 0.5, prices: 'test 2026-01-01' });

  test.each([
    { when: 'a total is reported', form: { cost_usd: 0.25, llm_calls: [call] }, value: 0.25 },
    {
      when: 'every call says its cost',
      form: {
        llm_calls: [
          { ...call, cost_usd: 0.1 },
          { ...call, cost_usd: 0.2 },
        ],
      },
      value: 0.3,
    },
    {
      when: 'one call says nothing and has no price',
      form: { llm_calls: [{ ...call, cost_usd: 0.1 }, { model: 'm' }] },
      value: null,
    },
    { when: 'nothing is known', form: {}, value: null },
  ])('is $value when $when', ({ form, value }) => {
    expect(cost.evaluate({ trace: simpleTrace({ answer: 'x', ...form }) })).toMatchObject({
      value,
    });
  });

  test('is computed from tokens if prices are available, and names their table', () => {
    const trace = simpleTrace({ answer: 'x', llm_calls: [call] });
    expect(cost.evaluate({ trace, price })).toMatchObject({
      value: 0.5,
      detail: { prices: 'test 2026-01-01' },
    });
  });
});

test.each([
  { when: 'calls have counts', form: { llm_calls: [call, call] }, value: 240 },
  { when: 'one call has none', form: { llm_calls: [call, { model: 'm' }] }, value: null },
])('token_usage is $value when $when', ({ form, value }) => {
  expect(tokenUsage.evaluate({ trace: simpleTrace({ answer: 'x', ...form }) })).toMatchObject({
    value,
  });
});

test.each([
  { when: 'it was recorded', form: { latency_ms: 900 }, value: 900 },
  { when: 'it was not', form: {}, value: null },
])('latency is $value when $when', ({ form, value }) => {
  expect(latency.evaluate({ trace: simpleTrace({ answer: 'x', ...form }) })).toMatchObject({
    value,
  });
});

test.each([
  {
    when: 'a call failed',
    calls: [
      { name: 'a', error: null },
      { name: 'b', error: 'boom' },
    ],
    value: 0.5,
  },
  {
    when: 'one call has neither result nor status',
    calls: [{ name: 'a', error: null }, { name: 'b' }],
    value: null,
  },
  { when: 'no tool was called', calls: [], value: null },
  { when: 'tool calls were not captured', calls: undefined, value: null },
])('tool_success is $value when $when', ({ calls, value }) => {
  expect(
    toolSuccess.evaluate({ trace: simpleTrace({ answer: 'x', tool_calls: calls }) }),
  ).toMatchObject({ value });
});
