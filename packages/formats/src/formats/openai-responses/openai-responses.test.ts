import { readAll, readOne } from '@agentci/testing/read-all';
import { queryText, toolCalls } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const asked = { role: 'user', content: 'hi' };
const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"q":1}' };
const output = { type: 'function_call_output', call_id: 'c1', output: 'found' };

describe('a list of items', () => {
  test('may name messages by their role alone', async () => {
    const trace = await readOne([asked, call, output]);
    expect(trace.source.format).toBe('openai-responses');
    expect(queryText(trace)).toBe('hi');
    expect(toolCalls(trace)).toMatchObject([
      { name: 'look', args: { q: 1 }, result: 'found', status: 'unknown' },
    ]);
  });

  test('pairs calls by call_id and ignores item ids', async () => {
    const trace = await readOne([
      { ...call, id: 'fc_1' },
      { ...call, id: 'fc_2', call_id: 'c2', arguments: '{"q":2}' },
      { ...output, id: 'fc_1', call_id: 'c2', output: 'second' },
      { ...output, output: 'first' },
    ]);
    expect(toolCalls(trace).map(({ result }) => result)).toEqual(['first', 'second']);
  });
});

test('records that no format reads together are refused, not read as far as the first one goes', async () => {
  const { traces, problems } = await readAll([asked, { type: 'step', what: 'somebody else’s' }]);
  expect(traces).toEqual([]);
  expect(problems.map(({ code }) => code)).toEqual([
    'TRACE_UNKNOWN_FORMAT',
    'TRACE_UNKNOWN_FORMAT',
  ]);
});
