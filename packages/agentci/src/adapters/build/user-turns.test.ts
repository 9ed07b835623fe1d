import { describe, expect, test } from 'vitest';
import { toolNames } from '../../trace/selectors.ts';
import { answerOfTurn, traceOfTurn } from '../../trace/turns.ts';
import { readTraceItems } from '../reader/read-traces.ts';

const user = (content: string) => ({ role: 'user', content });
const says = (content: string) => ({ role: 'assistant', content });
const calls = (id: string, name: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });

async function read(recording: unknown) {
  for await (const item of readTraceItems(new TextEncoder().encode(JSON.stringify(recording)))) {
    if (item.ok) return item.trace;
    throw new Error(item.problem.message);
  }
  throw new Error('no trace');
}

const HISTORY = [
  { role: 'system', content: 'Be kind.' },
  user('I want a refund'),
  says('Which order?'),
  user('42'),
  calls('c1', 'lookup'),
  result('c1'),
  says('The lamp?'),
  user('yes'),
  calls('c2', 'refund'),
  result('c2'),
  says('Refunded.'),
];

describe('turns of recorded conversations', () => {
  test.each([
    { format: 'a chat history', recording: { messages: HISTORY } },
    {
      format: 'tau-bench',
      recording: { task_id: 1, trial: 0, reward: 1, info: {}, traj: [...HISTORY, user('###STOP###')] },
    },
  ])('$format: each message of the user begins one', async ({ recording }) => {
    const trace = await read(recording);
    expect(trace.conversation?.turns.map((turn) => [turn.turn, turn.message, answerOfTurn(turn)])).toEqual([
      [1, 'I want a refund', 'Which order?'],
      [2, '42', 'The lamp?'],
      [3, 'yes', 'Refunded.'],
    ]);
    expect([1, 2, 3].map((turn) => toolNames(traceOfTurn(trace, turn)!))).toEqual([[], ['lookup'], ['refund']]);
  });

  test('a run in which the user spoke once has none', async () => {
    const trace = await read({ messages: HISTORY.slice(0, 3) });
    expect(trace.conversation).toBeUndefined();
    expect(trace.steps.every((step) => step.userTurn === undefined)).toBe(true);
  });

  test('a message that was not answered is not a turn', async () => {
    const trace = await read({ messages: [...HISTORY.slice(0, 7), user('hello?')] });
    expect(trace.conversation?.turns).toHaveLength(2);
  });
});
