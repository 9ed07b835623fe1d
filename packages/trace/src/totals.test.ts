import { describe, expect, test } from 'vitest';
import { simpleTrace } from './simple.ts';
import { type PriceLookup, totals } from './totals.ts';

const price: PriceLookup = ({ model, usage }) =>
  model === 'cheap'
    ? { usd: ((usage.input ?? 0) + (usage.output ?? 0)) / 1000, prices: 'table 1' }
    : undefined;

const exact = (value: number) => ({ exact: true, value });
const atLeast = (value: number) => ({ exact: false, atLeast: value, why: expect.any(String) });
const cheap = { model: 'cheap', input_tokens: 100, output_tokens: 20 };

describe('totals', () => {
  test.each([
    {
      when: 'nothing is given',
      input: { answer: 'x' },
      want: {
        costUsd: atLeast(0),
        totalTokens: atLeast(0),
        inputTokens: atLeast(0),
        llmCalls: atLeast(0),
        toolCalls: atLeast(0),
        handoffs: atLeast(0),
        latencyMs: atLeast(0),
      },
    },
    {
      when: 'reports totals next to calls that contradict them',
      input: { answer: 'x', cost_usd: 1, total_tokens: 7, latency_ms: 5, llm_calls: [cheap] },
      want: {
        costUsd: exact(1),
        costSource: { source: 'reported' },
        // Limits use the larger of claim and sum, but reports show the claim.
        totalTokens: { exact: true, value: 120, claimed: 7 },
        latencyMs: exact(5),
        llmCalls: exact(1),
      },
    },
    {
      when: 'the bill is 0 and the calls cost three dollars',
      input: {
        answer: 'x',
        cost_usd: 0,
        llm_calls: [
          { ...cheap, cost_usd: 1 },
          { ...cheap, cost_usd: 2 },
        ],
      },
      want: { costUsd: { exact: true, value: 3, claimed: 0 }, costSource: { source: 'reported' } },
    },
    {
      when: 'fewer model calls are claimed than are listed',
      input: { answer: 'x', total_llm_calls: 1, llm_calls: [cheap, cheap] },
      want: { llmCalls: exact(2) },
    },
    {
      when: 'every call is known',
      input: { answer: 'x', llm_calls: [cheap, { ...cheap, cost_usd: 0.5 }] },
      want: {
        costUsd: exact(0.62),
        costSource: { source: 'computed', prices: 'table 1' },
        totalTokens: exact(240),
        inputTokens: exact(200),
        outputTokens: exact(40),
      },
    },
    {
      when: 'one call has no tokens',
      input: { answer: 'x', llm_calls: [cheap, { model: 'cheap' }] },
      want: { costUsd: atLeast(0.12), totalTokens: atLeast(120), llmCalls: exact(2) },
    },
    {
      when: 'a call has only input tokens',
      input: { answer: 'x', llm_calls: [{ model: 'cheap', input_tokens: 100 }] },
      want: {
        costUsd: atLeast(0),
        totalTokens: atLeast(100),
        inputTokens: exact(100),
        outputTokens: atLeast(0),
      },
    },
    {
      when: 'the model has no price',
      input: { answer: 'x', llm_calls: [cheap, { ...cheap, model: 'secret' }] },
      want: { costUsd: atLeast(0.12), totalTokens: exact(240) },
    },
    {
      when: 'dollars have binary dust',
      input: { answer: 'x', llm_calls: [{ cost_usd: 0.1 }, { cost_usd: 0.2 }] },
      want: { costUsd: exact(0.3), costSource: { source: 'reported' } },
    },
    {
      when: 'no call was made',
      input: { answer: 'x', llm_calls: [], tool_calls: [], handoffs: [] },
      want: {
        costUsd: exact(0),
        totalTokens: exact(0),
        llmCalls: exact(0),
        toolCalls: exact(0),
        handoffs: exact(0),
      },
    },
    {
      when: 'calls are only counted',
      input: { answer: 'x', llm_calls: 3 },
      want: { llmCalls: exact(3), costUsd: atLeast(0), totalTokens: atLeast(0) },
    },
    {
      when: 'the tokens of the whole run and its model are given',
      input: { answer: 'x', model: 'cheap', input_tokens: 500, output_tokens: 500 },
      want: {
        costUsd: exact(1),
        costSource: { source: 'computed', prices: 'table 1' },
        totalTokens: exact(1000),
      },
    },
    {
      when: 'only the total of tokens is given',
      input: { answer: 'x', model: 'cheap', total_tokens: 500 },
      want: { costUsd: atLeast(0), totalTokens: exact(500), inputTokens: atLeast(0) },
    },
  ])('when $when', ({ input, want }) => {
    expect(totals(simpleTrace(input), { price })).toMatchObject(want);
  });

  test('without a price table no cost is computed', () => {
    expect(totals(simpleTrace({ answer: 'x', llm_calls: [cheap] })).costUsd).toEqual(atLeast(0));
  });

  const step = { kind: 'event', name: 'e', status: 'ok' } as const;
  test.each([
    {
      when: 'the run has a start and an end',
      over: { startedAt: 10, endedAt: 25 },
      want: exact(15),
    },
    {
      when: 'the run ends before it starts',
      over: { startedAt: 25, endedAt: 10 },
      want: atLeast(0),
    },
    { when: 'every step is timed', timing: 'full', want: exact(30) },
    { when: 'some steps are timed', timing: 'partial', want: atLeast(30) },
    { when: 'timing was not captured', timing: 'none', want: atLeast(0) },
  ] as const)('latency when $when', (row) => {
    const base = simpleTrace('x');
    const steps = [
      { ...step, id: 'a', seq: 1, t0: 20, t1: 50 },
      { ...step, id: 'b', seq: 2, t0: 30 },
    ];
    const timing = row.timing ?? 'none';
    const over = row.over ?? {};
    expect(
      totals({ ...base, steps, captured: { ...base.captured, timing }, ...over }).latencyMs,
    ).toEqual(row.want);
  });

  test('a partly captured list of tool calls is a lower bound', () => {
    const base = simpleTrace({ answer: 'x', tool_calls: [{ name: 'a' }] });
    const partial = {
      ...base,
      captured: { ...base.captured, toolCalls: 'partial' as const, llmCalls: 'partial' as const },
    };
    expect(totals(partial)).toMatchObject({ toolCalls: atLeast(1), llmCalls: atLeast(0) });
  });
});
