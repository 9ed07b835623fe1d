import { otlp, type SmallSpan } from '@agentci/testing/otlp';
import { readAll } from '@agentci/testing/read-all';
import { finalText, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const agent: SmallSpan = {
  id: 'a',
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk' },
  at: [0, 9],
};
const tool: SmallSpan = {
  id: 'b',
  parent: 'a',
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'find' },
  at: [1, 2],
};
const reply: SmallSpan = {
  id: 'c',
  parent: 'a',
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.output.messages':
      '[{"role":"assistant","parts":[{"type":"text","content":"Here."}],"finish_reason":"stop"}]',
  },
  at: [3, 4],
};
const lines = (...requests: object[]): string =>
  requests.map((request) => JSON.stringify(request)).join('\n');

test('one request with all spans is one run', async () => {
  const { traces } = await readAll(otlp([agent, tool, reply]));
  expect(traces.map((trace) => [toolNames(trace), finalText(trace)])).toEqual([
    [['find'], 'Here.'],
  ]);
});

test('a run whose spans came in several requests, in any order, is put together', async () => {
  const { traces } = await readAll(lines(otlp([reply]), otlp([tool]), otlp([agent])));
  expect(traces.map((trace) => [toolNames(trace), finalText(trace)])).toEqual([
    [['find'], 'Here.'],
  ]);
});

test('two trace ids are two runs', async () => {
  const other = [agent, tool].map((span) => ({ ...span, trace: 'other' }));
  const { traces } = await readAll(lines(otlp([agent, tool, reply]), otlp(other)));
  expect(traces).toHaveLength(2);
});

test('spans that say nothing about agents are not a run of one', async () => {
  const { traces, problems } = await readAll(
    otlp([{ id: 'x', attributes: { 'http.method': 'GET' } }]),
  );
  expect(traces.flatMap(toolNames)).toEqual([]);
  expect(traces.every(({ captured }) => captured.toolCalls !== 'full')).toBe(true);
  expect(traces.length + problems.length).toBeLessThanOrEqual(1);
});
