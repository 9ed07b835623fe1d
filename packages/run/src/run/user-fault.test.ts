import type { Judge, JudgeTask } from '@agentci/judge';
import { parseSpec } from '@agentci/spec';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { runSuite } from './run-suite.ts';

const suite = parseSpec(
  `
agent: shop
queries:
  - id: q
    conversation:
      start: Hi, I want to return something.
      user: {persona: Polite and brief in all that is said, facts: {order: "42", pin: s3cr3t-word}, goal: the lamp is refunded, goal_tool: refund}
      max_turns: 5
    correctness: {not_in_answer: [SECRET-RUBRIC-WORD]}
`,
  { file: 'spec.yaml' },
).suite!;

const record = {
  model: 'm',
  prompt_hash: '',
  rubric: { id: '', version: '' },
  vote: 0,
  cached: false,
};
const judgeOf = (seen: JudgeTask[]): Judge => ({
  ask: async () => ({ error: true, kind: 'no_model', message: 'only tasks' }),
  perform: async (task) => {
    seen.push(task);
    return { reply: { faults: [] }, record: { ...record, calls: 1, cost_usd: 0 } };
  },
});

async function* recordingOf(said: readonly string[], rest: object) {
  yield simpleTrace({
    id: 'q',
    turns: ['Hi, I want to return something.', ...said].map((user, i) => ({
      user,
      answer:
        ['Which order?', 'Which item?', 'Shall I?', 'One moment.', 'Done.'][i] ?? `Answer ${i}.`,
      tool_calls:
        'refundAt' in rest && rest.refundAt === i + 1
          ? [{ name: 'refund', args: {}, result: 'ok' }]
          : [],
    })),
    ...('ending' in rest ? { ending: rest.ending } : {}),
  });
}
const judge = (said: readonly string[], rest: object = {}, audit = false, seen: JudgeTask[] = []) =>
  runSuite({ suite, traces: recordingOf(said, rest), judge: judgeOf(seen), auditUser: audit });

describe('a recorded conversation of a user that a model plays is looked at as a live one', () => {
  test.each([
    { what: 'a made-up fact', said: ['Order 99.'], turn: 2, says: '"99"' },
    {
      what: 'the role of the agent',
      said: ['Order 42.', 'How may I help you today?'],
      turn: 3,
      says: 'as the agent',
    },
    {
      what: 'its brief',
      said: ['Polite and brief in all that is said'],
      turn: 2,
      says: 'repeats its brief',
    },
    {
      what: 'the same words',
      said: ['Order 42.', 'Order 42.', 'order 42'],
      turn: 4,
      says: 'the same 3 times',
    },
    {
      what: 'an early end',
      said: ['Order 42.'],
      rest: { ending: 'user_done' },
      turn: 2,
      says: 'before refund had run',
    },
  ])(
    '$what is blamed on the user, and counted by the audit',
    async ({ said, rest = {}, turn, says }) => {
      const plain = await judge(said, rest);
      expect(plain.results[0]).toMatchObject({
        status: 'error',
        error: { kind: 'simulator', message: expect.stringContaining(says) },
        conversation: { blame: 'user' },
      });
      const seen: JudgeTask[] = [];
      const { user_audit: audited } = await judge(said, rest, true, seen);
      expect(audited).toMatchObject({
        conversations: 1,
        faulty: 1,
        messages: said.length,
        faulty_messages: 1,
      });
      expect(audited?.faults).toMatchObject([
        { id: 'q', turn, by: 'detector', what: expect.stringContaining(says) },
      ]);
      expect(seen).toHaveLength(0);
    },
  );

  test('a good user is judged, and audited by the judge', async () => {
    const seen: JudgeTask[] = [];
    const run = await judge(
      ['Order 42.', 'The PIN is [user.pin].'],
      { ending: 'user_done', refundAt: 3 },
      true,
      seen,
    );
    expect(run.results[0]).toMatchObject({ status: 'pass' });
    expect(run.user_audit).toMatchObject({ conversations: 1, faulty: 0 });
    expect(seen.map(({ id }) => id)).toEqual(['user-audit']);
  });

  test('without a recorded end by the user, the user is not blamed for an early end', async () => {
    expect((await judge(['Order 42.'])).results[0]).toMatchObject({ status: 'pass' });
  });

  test('one that is longer than max_turns is not judged as if it had ended in time', async () => {
    const said = ['Order 42.', 'The lamp.', 'Yes.', 'Well?', 'Are you there?'];
    expect((await judge(said.slice(0, 4))).results[0]!.status).toBe('pass');
    expect((await judge(said)).results[0]).toMatchObject({
      status: 'error',
      error: { kind: 'trace', message: expect.stringContaining('6 turns and max_turns is 5') },
    });
  });
});

test('a leak in an earlier turn misses the bound of pii_leakage, and the message names the turn', async () => {
  const { suite: leaky } = parseSpec(
    'agent: a\nqueries: [{id: q, query: hi, conversation: {user: {script: [well]}}, metrics: {pii_leakage: {min: 1}}}]',
    { file: 'spec.yaml' },
  );
  const turns = [
    { user: 'hi', answer: 'Write to bob@example.com.' },
    { user: 'well', answer: 'Bye.' },
  ];
  const run = await runSuite({
    suite: leaky!,
    traces: only(simpleTrace({ id: 'q', turns })),
    judge: 'off',
  });
  expect(run.results[0]).toMatchObject({ status: 'fail' });
  expect(run.results[0]!.correctness.checks[0]).toMatchObject({
    message: expect.stringContaining('found in turn 1'),
    evidence: [{ text: expect.stringContaining('email in the output of turn 1') }],
  });
});

async function* only(trace: ReturnType<typeof simpleTrace>) {
  yield trace;
}
