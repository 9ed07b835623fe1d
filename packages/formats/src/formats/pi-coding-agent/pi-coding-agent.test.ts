import { readOne } from '@agentci/testing/read-all';
import { finalText, toolCalls, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const lines = (...values: readonly object[]): string =>
  values.map((value) => JSON.stringify(value)).join('\n');
const line = (id: string, parentId: string | null, message: object) => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-06-06T10:00:00Z',
  message,
});
const asks = (name: string, id = 'c1') => ({
  role: 'assistant',
  content: [{ type: 'toolCall', id, name, arguments: {} }],
  stopReason: 'toolUse',
});
const says = (text: string) => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  stopReason: 'stop',
});

test('calls on an abandoned branch were executed, and the answer is from the last branch', async () => {
  const trace = await readOne(
    lines(
      line('a', null, { role: 'user', content: 'q' }),
      line('b', 'a', asks('dig')),
      line('c', 'a', says('Done.')),
    ),
  );
  expect([toolNames(trace), finalText(trace)]).toEqual([['dig'], 'Done.']);
});

test('a user command is not a call, even next to a call of the same name', async () => {
  const bash = { role: 'bashExecution', command: 'ls', output: 'x', exitCode: 1 };
  const trace = await readOne(
    lines(line('a', null, asks('bash')), line('b', 'a', bash), line('c', 'b', says('ok'))),
  );
  expect(toolCalls(trace)).toMatchObject(
    [{ name: 'bash', actor: 'user', status: 'error' }, { name: 'bash' }].toReversed(),
  );
});

test.each([
  ['a parent is absent', [line('a', 'zz', asks('dig')), line('b', 'a', says('x'))]],
  [
    'a result has no call',
    [
      line('a', null, { role: 'toolResult', toolCallId: 'c9', toolName: 'dig', content: [] }),
      line('b', 'a', says('x')),
    ],
  ],
])('calls are partly known where %s', async (_, values) => {
  expect((await readOne(lines(...values))).captured.toolCalls).toBe('partial');
});

test('the events of the JSON mode are read by their ends', async () => {
  const end = (message: object) => ({ type: 'message_end', message });
  const trace = await readOne(
    lines(end({ role: 'user', content: 'q' }), end(asks('dig')), end(says('Done.'))),
  );
  expect([toolNames(trace), finalText(trace)]).toEqual([['dig'], 'Done.']);
});

test('a message in a line of an unknown kind may have called something', async () => {
  const bash = { role: 'bashExecution', command: 'ls', output: 'x', exitCode: 0 };
  const trace = await readOne(
    lines(
      line('a', null, { role: 'user', content: 'q' }),
      { ...line('b', 'a', bash), type: 'note' },
      line('c', 'b', says('Done.')),
    ),
  );
  expect(trace.captured.toolCalls).toBe('partial');
});
