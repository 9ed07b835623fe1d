import { simpleTrace } from '@agentci/trace';
import { expect, test } from 'vitest';
import { makeSuite } from './make-suite.ts';

const call = (name: string) => ({ name, args: {}, result: 'ok' });
const recorded = simpleTrace({
  id: 'refund',
  turns: [
    { user: 'I want a refund', answer: 'Which order?', tool_calls: [] },
    { user: 'Order "42"', answer: 'Sure?', tool_calls: [call('lookup')] },
    { user: 'yes', answer: 'Done.', tool_calls: [call('refund')] },
  ],
});

test('a recorded conversation stays one query with its turns, and passes on itself', async () => {
  const { files, suite, cases } = await makeSuite([recorded]);
  expect(cases).toHaveLength(1);
  expect(suite.queries[0]).toMatchObject({
    query: 'I want a refund',
    conversation: { maxTurns: 3, script: [{ say: 'Order "42"' }, { say: 'yes' }] },
    turns: [
      { turn: 2, path: { expected_tools: ['lookup'] } },
      { turn: 3, path: { expected_tools: ['refund'] } },
    ],
  });
  expect([...files.values()].join('')).toContain('"userTurn":2');
});

test('a truncated conversation is kept, and the import reports the missing part', async () => {
  const turns = [
    { user: 'Hi', answer: 'Hello.', tool_calls: [] },
    { user: 'Well?', tool_calls: [call('lookup')] },
  ];
  const { notes } = await makeSuite([simpleTrace({ id: 'odd', turns })]);
  expect(notes.join()).toContain(
    'is error on its recording: turn 2: the recording has no answer to "Well?"',
  );
});

test('a single question has no conversation', async () => {
  const { suite } = await makeSuite([
    simpleTrace({ query: 'q', answer: 'a', tool_calls: [call('x')] }),
  ]);
  expect(suite.queries[0]?.conversation).toBeUndefined();
});

test.each([
  { name: 'transfer_to_human_agents', ends: ['transfer_to_human_agents'] },
  { name: 'end_call', ends: ['end_call'] },
  { name: 'lookup', ends: [] },
])(
  'a conversation whose last word is a call of $name may end so: $ends',
  async ({ name, ends }) => {
    const { suite } = await makeSuite([
      simpleTrace({
        id: 'refund',
        turns: [
          { user: 'I want a refund', answer: 'Which order?', tool_calls: [] },
          { user: 'A human, please', tool_calls: [call(name)] },
        ],
      }),
    ]);
    expect(suite.queries[0]?.conversation?.endTools).toEqual(ends);
  },
);

test.each([
  {
    what: 'with more turns than a spec takes',
    turns: Array.from({ length: 250 }, (_, i) => ({
      user: `Question ${i}`,
      answer: 'Yes.',
      tool_calls: [call('x')],
    })),
    why: 'the conversation has 250 turns, and a spec takes at most 200',
  },
  ...['', '  ', '\u200b\u2060'].map((user) => ({
    what: `with the message ${JSON.stringify(user)}`,
    turns: [
      { user: 'I want a refund', answer: 'Which order?', tool_calls: [call('x')] },
      { user, answer: 'Hello?', tool_calls: [call('x')] },
    ],
    why: 'the message of the user in turn 2 is empty',
  })),
])(
  'a conversation $what never becomes a query of its first message, and the import gives the reason',
  async ({ turns, why }) => {
    const { suite, left } = await makeSuite([simpleTrace({ id: 'odd', turns }), recorded]);
    expect(suite.queries.map(({ query }) => query)).toEqual(['I want a refund']);
    expect(suite.queries[0]!.conversation?.maxTurns).toBe(3);
    expect(left).toEqual([{ id: 'odd', why: expect.stringContaining(why) }]);
  },
);
