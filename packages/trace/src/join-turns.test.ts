import { expect, test } from 'vitest';
import { simpleTrace } from './simple.ts';
import { joinTurns } from './turns.ts';

/** `lookup#1` is a call of lookup with id 1. */
const turn = (calls: string) => ({
  message: 'go on',
  trace: simpleTrace({
    query: 'go on',
    answer: 'ok',
    tool_calls: calls
      .split(' ')
      .filter(Boolean)
      .map((call) => {
        const [name = '', id] = call.split('#');
        return { name, arguments: {}, ...(id === undefined ? {} : { id }) };
      }),
  }),
});

test.each([
  {
    what: 'each turn has its own calls',
    turns: ['lookup', 'refund'],
    calls: ['1 lookup', '2 refund'],
  },
  {
    what: 'another call has the id again',
    turns: ['lookup#1', 'refund#1'],
    calls: ['1 lookup', '2 refund'],
  },
  {
    what: 'the same call is made again',
    turns: ['refund#1', 'refund#1'],
    calls: ['1 refund', '2 refund'],
  },
  {
    what: 'so without ids',
    turns: ['refund', 'refund', 'refund'],
    calls: ['1 refund', '2 refund', '3 refund'],
  },
  {
    what: 'the agent hands out its history',
    turns: ['lookup#1', 'lookup#1 check#2', 'lookup#1 check#2 refund#3'],
    calls: ['1 lookup', '2 check', '3 refund'],
  },
  {
    what: 'its history without ids',
    turns: ['lookup', 'lookup check', 'lookup check refund'],
    calls: ['1 lookup', '2 check', '3 refund'],
  },
  {
    what: 'its history with nothing new',
    turns: ['lookup#1 check#2', 'lookup#1 check#2'],
    calls: ['1 lookup', '1 check'],
  },
])('$what: $turns', ({ turns, calls }) => {
  const { steps } = joinTurns(turns.map(turn), {});
  expect(
    steps.flatMap((step) => (step.kind === 'tool' ? [`${step.userTurn} ${step.name}`] : [])),
  ).toEqual(calls);
});

test.each([
  {
    what: 'ids restart',
    turns: ['lookup#1', 'lookup#1 refund#2'],
    calls: ['1 lookup', '2 lookup', '2 refund'],
  },
  {
    what: 'the same calls have the same ids',
    turns: ['a#1 b#2', 'a#1 b#2'],
    calls: ['1 a', '1 b', '2 a', '2 b'],
  },
])('turns that are known to be apart keep all their calls where $what', ({ turns, calls }) => {
  const { steps } = joinTurns(turns.map(turn), {}, { areApart: true });
  expect(
    steps.flatMap((step) => (step.kind === 'tool' ? [`${step.userTurn} ${step.name}`] : [])),
  ).toEqual(calls);
});

test('calls of a model that has the same id for every answer are all kept', () => {
  const asked = (t0: number, text: string) => {
    const { message, trace } = turn('look#1');
    const llm = {
      id: `l${t0}`,
      seq: 1,
      kind: 'llm' as const,
      status: 'ok' as const,
      responseId: 'chatcmpl-123',
      t0,
      output: { role: 'assistant' as const, parts: [{ type: 'text' as const, text }] },
    };
    return { message, trace: { ...trace, steps: [llm, ...trace.steps] } };
  };
  const calls = (runs: ReturnType<typeof asked>[]) =>
    joinTurns(runs, {}).steps.filter(({ kind }) => kind === 'llm').length;
  expect(calls([asked(1, 'a'), asked(2, 'b'), asked(3, 'b')])).toBe(3);
});
