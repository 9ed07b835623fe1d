import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const piece = (message: object, done: boolean) => ({
  model: 'm',
  created_at: 'x',
  message: { role: 'assistant', content: '', ...message },
  done,
});
const call = { tool_calls: [{ function: { name: 'dig', arguments: {} } }] };

test('a stream that is not done is cut off', async () => {
  const trace = await readOne([piece(call, false)]);
  expect([toolNames(trace), trace.captured.toolCalls, trace.status]).toEqual([
    ['dig'],
    'partial',
    'incomplete',
  ]);
});

test('replies end at their done mark', async () => {
  const { traces } = await readAll([
    piece({ content: 'One' }, false),
    piece({ content: '.' }, true),
    piece({ content: 'Two.' }, true),
  ]);
  expect(traces.map(finalText)).toEqual(['One.', 'Two.']);
});

test('a streamed body of a pair is read line by line', async () => {
  const response = [piece(call, false), piece({}, true)]
    .map((value) => JSON.stringify(value))
    .join('\n');
  const request = { model: 'm', messages: [{ role: 'user', content: 'q' }] };
  const trace = await readOne([
    { method: 'POST', uri: 'http://localhost:11434/api/chat', request, status: 200, response },
  ]);
  expect([toolNames(trace), trace.captured.toolCalls]).toEqual([['dig'], 'full']);
});

test('generate is read as words', async () => {
  const trace = await readOne([
    { model: 'm', created_at: 'x', response: 'Hello.', done: true, done_reason: 'stop' },
  ]);
  expect([trace.source.format, finalText(trace)]).toEqual(['ollama', 'Hello.']);
});
