import { finalText, handoffs, toolCalls, toolNames, totals } from '@agentci/trace';
import { expect, test } from 'vitest';
import { detectFormat } from '../../reader/detect.ts';
import { adapter } from './agentci-upstream.ts';

const recording = {
  trace_id: 't1',
  spans: [
    {
      kind: 'agent',
      name: 'Triage',
      output_data: 'passing on',
      tool_calls: [
        {
          tool_name: 'classify',
          arguments: { text: 'refund' },
          result: 'billing',
          error: null,
          duration_ms: 4,
        },
      ],
      llm_calls: [{ model: 'gpt-4o-mini', tokens_in: 100, tokens_out: 20, cost_usd: 0 }],
      metadata: { handoffs: ['Billing', 'Technical'] },
    },
    {
      kind: 'handoff',
      name: 'handoff',
      from_agent: 'Triage',
      to_agent: 'Billing',
      tool_calls: [],
      llm_calls: [],
    },
    {
      kind: 'agent',
      name: 'Billing',
      output_data: 'Refunded.',
      tool_calls: [{ tool_name: 'refund', arguments: { amount: 5 }, error: 'denied' }],
      llm_calls: [],
    },
  ],
  total_tokens: 120,
  total_cost_usd: 0,
  total_tool_calls: 2,
  metadata: {},
};

const read = (value: unknown) => {
  const [item] = [...adapter.read([{ value }])];
  if (!item?.ok) throw new Error('not read');
  return item.trace;
};

test('tools in order, arguments, errors, handoffs, agents, the answer and the totals are read', () => {
  const trace = read(recording);
  expect(toolNames(trace)).toEqual(['classify', 'refund']);
  expect(toolCalls(trace).map(({ args, status }) => ({ args, status }))).toEqual([
    { args: { text: 'refund' }, status: 'ok' },
    { args: { amount: 5 }, status: 'error' },
  ]);
  expect(handoffs(trace)).toMatchObject([{ from: 'Triage', to: 'Billing' }]);
  expect(trace.agents).toEqual(
    expect.arrayContaining([
      { id: 'Triage', name: 'Triage', canHandOffTo: ['Billing', 'Technical'] },
    ]),
  );
  expect(finalText(trace)).toBe('Refunded.');
  expect(totals(trace).totalTokens).toEqual({ exact: true, value: 120 });
});

test('a cost of 0 next to tokens is unknown', () => {
  expect(totals(read(recording)).costUsd.exact).toBe(false);
});

test('it is distinguished from the simple form', () => {
  expect(detectFormat(JSON.stringify(recording)).format).toBe('agentci-upstream');
});

test.each([{ value: 7 }, { value: { spans: 'x' } }, { value: { spans: [1] } }])(
  '$value is a problem, not a crash',
  ({ value }) => {
    expect([...adapter.read([{ value }])]).toMatchObject([{ ok: false }]);
  },
);
