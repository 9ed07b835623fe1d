import { readOne } from '@agentci/testing/read-all';
import { toolCalls, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const span = (type: string, more: object = {}) => ({
  span_id: 'a1',
  parent_id: null,
  type,
  name: 'dig',
  input: { type: 'json', value: { depth: 2 } },
  output: null,
  timestamps: { started_at: 1770000000000, finished_at: 1770000000100 },
  ...more,
});

test('a failed tool says why', async () => {
  const trace = await readOne({
    trace_id: 't',
    spans: [span('tool', { error: { has_error: true, message: 'stone' } })],
  });
  expect(toolCalls(trace)).toMatchObject([
    { name: 'dig', args: { depth: 2 }, status: 'error', error: { message: 'stone' } },
  ]);
});

test('fewer spans than the tree has lines make the calls partly known', async () => {
  const ascii_tree = '.\n└── span: root\n    └── tool: dig\n';
  expect(
    (await readOne({ trace_id: 't', spans: [span('tool')], ascii_tree })).captured.toolCalls,
  ).toBe('partial');
});

test('a reply without its content does not say that nothing was called', async () => {
  expect((await readOne({ trace_id: 't', spans: [span('llm')] })).captured.toolCalls).toBe('none');
});

test('the reply of a provider is read for its calls', async () => {
  const message = {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'dig', arguments: '{}' } }],
  };
  const trace = await readOne({
    trace_id: 't',
    spans: [span('llm', { output: { type: 'json', value: { choices: [{ message }] } } })],
  });
  expect(toolNames(trace)).toEqual(['dig']);
});
