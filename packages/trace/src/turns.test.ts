import { describe, expect, test } from 'vitest';
import { parseSimple, simpleTrace } from './simple.ts';
import { answerOfTurn, traceOfTurn, turnsOf } from './turns.ts';

const call = (name: string) => ({ name, args: {}, result: 'ok' });
const RECORDED = {
  id: 'refund',
  ending: 'user_done',
  turns: [
    { user: 'Hi', answer: 'Which order?', tool_calls: [] },
    {
      user: '42',
      answer: 'Done.',
      tool_calls: [call('lookup'), call('refund')],
      latency_ms: 20,
      cost_usd: 0.1,
    },
  ],
};

describe('the simple form of a conversation', () => {
  const trace = simpleTrace(RECORDED);

  test('is one run with its turns', () => {
    expect(trace).toMatchObject({
      id: 'refund',
      status: 'ok',
      final: { text: 'Done.' },
      task: { id: 'refund', input: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
      captured: { toolCalls: 'full', final: 'full' },
      conversation: { ending: 'user_done', turns: [{ message: 'Hi' }, { message: '42' }] },
    });
    expect(trace.steps.map(({ seq, userTurn }) => [seq, userTurn])).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(trace.warnings).toEqual([]);
  });

  test('a turn becomes a separate run', () => {
    expect(traceOfTurn(trace, 1)).toMatchObject({
      steps: [],
      final: { text: 'Which order?' },
      captured: { toolCalls: 'full' },
    });
    expect(traceOfTurn(trace, 2)).toMatchObject({
      steps: [{ name: 'lookup' }, { name: 'refund' }],
      reported: { durationMs: 20 },
    });
    expect(traceOfTurn(trace, 3)).toBeUndefined();
  });

  test('a total that one turn does not give is unknown for the whole', () => {
    expect(trace.reported?.cost).toBeUndefined();
    expect(trace.reported?.durationMs).toBeUndefined();
  });

  test('what one turn did not capture is captured in part', () => {
    const mixed = simpleTrace({
      turns: [
        { user: 'a', answer: 'b' },
        { user: 'c', answer: 'd', tool_calls: [] },
      ],
    });
    expect(mixed.captured.toolCalls).toBe('partial');
    expect(traceOfTurn(mixed, 1)?.captured.toolCalls).toBe('none');
    expect(traceOfTurn(mixed, 2)?.captured.toolCalls).toBe('full');
  });

  test.each([
    { what: 'no list', turns: {}, path: 'turns' },
    { what: 'an empty list', turns: [], path: 'turns' },
    {
      what: 'a call next to the turns',
      turns: [{ user: 'a', answer: 'x' }],
      rest: { tool_calls: [{ name: 'x' }] },
      path: 'turns',
    },
    { what: 'a turn without a user', turns: [{ answer: 'x' }], path: 'turns[0].user' },
  ])('refuses $what at its path', ({ turns, path, rest = {} }) => {
    expect(parseSimple({ turns, ...rest })).toMatchObject({ ok: false, issue: { path } });
  });
});

test('a question and its answer are one turn', () => {
  const trace = simpleTrace({ query: 'q', answer: 'a' });
  expect(turnsOf(trace)).toMatchObject([{ turn: 1, message: 'q' }]);
  expect(answerOfTurn(turnsOf(trace)[0]!)).toBe('a');
  expect(traceOfTurn(trace, 1)).toBe(trace);
});

test('a call that belongs to no turn may belong to any', () => {
  const trace = simpleTrace(RECORDED);
  const homeless = { ...trace, steps: trace.steps.map(({ userTurn: _, ...step }) => step) };
  expect(traceOfTurn(homeless as typeof trace, 1)?.captured.toolCalls).toBe('partial');
});
