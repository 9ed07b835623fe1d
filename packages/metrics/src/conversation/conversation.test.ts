import type { Judge, JudgeTask } from '@agentci/judge';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { Metric } from '../metric.ts';
import { metric as completeness } from './conversation-completeness.ts';
import { metric as retention } from './knowledge-retention.ts';
import { metric as repeatedQuestions } from './repeated-questions.ts';
import { metric as roleAdherence } from './role-adherence.ts';
import { type Said, saidIn } from './said.ts';
import { metric as topicAdherence } from './topic-adherence.ts';
import { metric as relevancy } from './turn-relevancy.ts';
import { metric as turnsToGoal } from './turns-to-goal.ts';

const record = {
  model: 'test:model',
  prompt_hash: '',
  rubric: { id: '', version: '' },
  vote: 0,
  cached: false,
  calls: 1,
  cost_usd: 0,
};

/** A judge that returns the given reply, in a model's form. */
const judgeSaying = (reply: unknown, seen: JudgeTask[] = []): Judge => ({
  ask: async () => ({ error: true, kind: 'no_model', message: 'only tasks' }),
  perform: async (task) => {
    seen.push(task);
    const why = task.check(reply);
    return why === undefined ? { reply, record } : { error: true, kind: 'invalid', message: why };
  },
});
const verdicts = (...given: (0 | 1)[]) => ({
  verdicts: given.map((verdict, i) => ({ index: i + 1, reason: 'r', verdict })),
});

const ok = { result: 'ok' };
const talk = (...turns: [user: string, answer: string | undefined, ...tools: object[]][]) =>
  simpleTrace({
    id: 'c',
    turns: turns.map(([user, answer, ...tool_calls]) => ({
      user,
      ...(answer === undefined ? {} : { answer }),
      tool_calls,
    })),
  });
const RETURN = talk(
  ['I want to return something.', 'Which order is it?'],
  ['Order 42.', 'Which item?', { name: 'lookup', args: {}, ...ok }],
  ['The lamp.', 'Refunded.', { name: 'refund', args: {}, ...ok }],
);

describe('metrics of turns, by a judge', () => {
  const JUDGED: {
    metric: Metric;
    params: Record<string, unknown>;
    replies: unknown;
    value: number;
    turns: number;
  }[] = [
    { metric: relevancy, params: {}, replies: verdicts(1, 0, 1), value: 2 / 3, turns: 3 },
    { metric: retention, params: {}, replies: verdicts(1, 0), value: 0.5, turns: 2 },
    {
      metric: roleAdherence,
      params: { role: 'A clerk' },
      replies: verdicts(1, 1, 1),
      value: 1,
      turns: 3,
    },
    {
      metric: topicAdherence,
      params: { topics: ['returns'] },
      replies: verdicts(0, 0, 0),
      value: 0,
      turns: 3,
    },
  ];

  test.each(JUDGED)(
    '$metric.name is the share of turns with a 1',
    async ({ metric, params, replies, value, turns }) => {
      const seen: JudgeTask[] = [];
      const output = await metric.evaluate({
        trace: RETURN,
        params,
        judge: judgeSaying(replies, seen),
      });
      expect(output).toMatchObject({
        value,
        detail: { turns, method: 'model', model: 'test:model' },
      });
      expect(seen[0]!.blocks.at(-1)!.text).toContain(
        '\n{"turn":2,"user":"Order 42.","agent":"Which item?"}',
      );
    },
  );

  test.each(JUDGED)(
    '$metric.name is not measured without a judge, or with a verdict too few',
    async ({ metric, params }) => {
      expect(await metric.evaluate({ trace: RETURN, params })).toMatchObject({
        value: null,
        detail: { method: 'model' },
      });
      expect(
        await metric.evaluate({ trace: RETURN, params, judge: judgeSaying(verdicts(1)) }),
      ).toMatchObject({
        value: null,
        detail: { judge_error: 'invalid' },
      });
    },
  );

  test.each(JUDGED)(
    '$metric.name is not measured if an answer was not captured',
    async ({ metric, params, replies }) => {
      const trace = talk(['Hi.', 'Hello.'], ['Order 42.', undefined], ['Well?', 'Done.']);
      const output = await metric.evaluate({ trace, params, judge: judgeSaying(replies) });
      expect(output).toMatchObject({
        value: null,
        detail: { reason: 'the answer of turn 2 was not captured' },
      });
    },
  );

  test.each([
    { metric: roleAdherence, why: 'no role' },
    { metric: topicAdherence, why: 'no topics' },
  ])('$metric.name needs a criterion', async ({ metric, why }) => {
    const output = await metric.evaluate({ trace: RETURN, judge: judgeSaying(verdicts(1, 1, 1)) });
    expect(output).toMatchObject({ value: null, detail: { reason: expect.stringContaining(why) } });
  });

  test('a turn that is too long to show is not judged unseen, and many turns are shown whole', async () => {
    const long = talk(['Hi.', 'x'.repeat(30_000)], ['Well?', 'Done.']);
    const unseen = await relevancy.evaluate({ trace: long, judge: judgeSaying(verdicts(1, 1)) });
    expect(unseen).toMatchObject({
      value: null,
      detail: { reason: expect.stringContaining('too long') },
    });
    const seen: JudgeTask[] = [];
    const many = talk(
      ...Array.from({ length: 9 }, (_, i): [string, string] => [`${i}`, 'y'.repeat(9000)]),
    );
    await relevancy.evaluate({
      trace: many,
      judge: judgeSaying(verdicts(1, 1, 1, 1, 1, 1, 1, 1, 1), seen),
    });
    const shown = seen[0]!.blocks
      .flatMap(({ text }) => text.split('\n'))
      .map((line) => JSON.parse(line) as object);
    expect(shown).toEqual(
      (saidIn({ trace: many }) as Said[]).map(({ turn, user, answer }) => ({
        turn,
        user,
        agent: answer,
      })),
    );
    expect(seen[0]!.blocks.every(({ text }) => text.length <= 20_000)).toBe(true);
  });

  test('nothing can be forgotten in one turn', async () => {
    const output = await retention.evaluate({
      trace: talk(['Hi.', 'Hello.']),
      judge: judgeSaying(verdicts(1)),
    });
    expect(output.value).toBeNull();
  });
});

describe('conversation_completeness', () => {
  const done = (params: object, trace = RETURN, judge?: Judge, goal?: string) =>
    completeness.evaluate({
      trace,
      params: { ...params },
      ...(judge === undefined ? {} : { judge }),
      ...(goal === undefined ? {} : { case: { goal } }),
    });

  test.each([
    { when: 'all were called', tools: ['lookup', 'ref*'], value: 1 },
    { when: 'one was not called', tools: ['lookup', 'cancel'], value: 0.5 },
  ])('by tools: $value where $when', async ({ tools, value }) => {
    expect(await done({ tools })).toMatchObject({ value, detail: { method: 'tools' } });
  });

  test('a call that failed does not count, and calls that were not captured are not missing', async () => {
    const failed = talk(['Refund it.', 'Sorry.', { name: 'refund', args: {}, error: 'no' }]);
    expect((await done({ tools: ['refund'] }, failed)).value).toBe(0);
    const unseen = simpleTrace({ id: 'c', turns: [{ user: 'Refund it.', answer: 'Refunded.' }] });
    expect((await done({ tools: ['refund'] }, unseen)).value).toBeNull();
  });

  test('by goals of the spec, of the user, or found by the judge', async () => {
    expect(await done({ goals: ['a', 'b'] }, RETURN, judgeSaying(verdicts(1, 0)))).toMatchObject({
      value: 0.5,
    });
    expect(await done({}, RETURN, judgeSaying(verdicts(1)), 'the lamp is refunded')).toMatchObject({
      value: 1,
      detail: { verdicts: [{ goal: 'the lamp is refunded' }] },
    });
    const found = { verdicts: [{ index: 1, goal: 'a refund', reason: 'r', verdict: 1 }] };
    expect(await done({}, RETURN, judgeSaying(found))).toMatchObject({
      value: 1,
      detail: { goals: 1, met: 1 },
    });
    expect(await done({}, RETURN, judgeSaying({ verdicts: [] }))).toMatchObject({ value: null });
    expect(await done({}, RETURN, judgeSaying(verdicts(1)))).toMatchObject({ value: null });
  });
});

describe('repeated_questions', () => {
  test.each([
    {
      when: 'each is asked once',
      answers: ['Which order is it?', 'Which item do you mean?'],
      value: 0,
    },
    {
      when: 'one comes again',
      answers: ['Which order is it?', 'Sure. Which order is it?'],
      value: 1,
    },
    {
      when: 'it comes again in nearly the same words',
      answers: ['What is your order number?', 'What is your order number please?'],
      value: 1,
    },
    {
      when: 'it comes three times',
      answers: ['Which order?', 'Which order?', 'WHICH  ORDER?'],
      value: 2,
    },
    {
      when: 'it is repeated in one answer',
      answers: ['Which order? Which order?', 'Thanks.'],
      value: 0,
    },
    {
      when: 'it is a courtesy',
      answers: ['Anything else I can do?', 'Anything else I can do?'],
      value: 0,
    },
    { when: 'the language is another', answers: ['ご注文番号は？', 'ご注文番号は？'], value: 1 },
  ])('is $value where $when', async ({ answers, value }) => {
    const trace = talk(...answers.map((answer): [string, string] => ['Hm.', answer]));
    expect(await repeatedQuestions.evaluate({ trace })).toMatchObject({ value });
  });

  const sameTwice = (answer: string) => talk(['Hi.', answer], ['Hm.', answer]);
  test.each([
    { answer: 'See https://shop.example/orders?page=2&sort=date for your orders.', questions: 0 },
    { answer: 'See [your orders](https://shop.example/orders?page=2).', questions: 0 },
    { answer: 'Open shop.example/orders?page=2 and log in.', questions: 0 },
    { answer: 'Call GET /orders?page=2 again.', questions: 0 },
    { answer: 'Run `grep -E "a?b"` and send the output.', questions: 0 },
    {
      answer: 'Use this:\n```js\nconst a = b ? c : d;\nask("which?");\n```\nThen reload.',
      questions: 0,
    },
    { answer: 'Did you open https://shop.example/help?', questions: 1 },
    { answer: 'Is it version 3.5 of lamp.json?', questions: 1 },
    { answer: '哪个订单？哪个商品？', questions: 2 },
    { answer: 'Ποια παραγγελία; Ποιο προϊόν;', questions: 2 },
    { answer: 'Which order?Which item?', questions: 2 },
  ])(
    'an answer given twice repeats its $questions questions: $answer',
    async ({ answer, questions }) => {
      expect((await repeatedQuestions.evaluate({ trace: sameTwice(answer) })).value).toBe(
        questions,
      );
    },
  );

  test('questions about two addresses are two questions', async () => {
    const trace = talk(
      ['Hi.', 'Is it https://a.example/one?'],
      ['No.', 'Is it https://b.example/other/page?'],
    );
    expect((await repeatedQuestions.evaluate({ trace })).value).toBe(0);
  });

  test('a long answer without an end is read in no time', async () => {
    const began = performance.now();
    for (const part of ['a', 'a.', '`', '?', 'a.b/', 'x://', 'ω;'])
      await repeatedQuestions.evaluate({
        trace: talk(['Hi.', part.repeat(100_000)], ['Hm.', 'ok']),
      });
    expect(performance.now() - began).toBeLessThan(5000);
  });

  test('names the question and where it was asked first', async () => {
    const trace = talk(['Hi.', 'Which order?'], ['42', 'Ok.'], ['And?', 'Which order?']);
    expect((await repeatedQuestions.evaluate({ trace })).detail).toMatchObject({
      repeated: [{ turn: 3, first_turn: 1, question: 'Which order?' }],
    });
  });

  test('is not measured in one turn', async () => {
    expect(
      (await repeatedQuestions.evaluate({ trace: talk(['Hi.', 'Which order?']) })).value,
    ).toBeNull();
  });
});

describe('turns_to_goal', () => {
  const to = (params: object, trace = RETURN, judge?: Judge) =>
    turnsToGoal.evaluate({
      trace,
      params: { ...params },
      ...(judge === undefined ? {} : { judge }),
    });

  test('is the turn of the first call that succeeded', async () => {
    expect(await to({ tool: 'refund' })).toMatchObject({ value: 3 });
    const second = talk(
      ['Refund it.', 'Sorry.', { name: 'refund', args: {}, error: 'busy' }],
      ['Again.', 'Done.', { name: 'refund', args: {}, ...ok }],
    );
    expect(await to({ tool: 'refund' }, second)).toMatchObject({ value: 2 });
  });

  test('is the turn of the first matching answer, or the one the judge names', async () => {
    expect(await to({ answer: 'refunded' })).toMatchObject({ value: 3 });
    expect(
      await to({ goal: 'refund' }, RETURN, judgeSaying({ turn: 2, reason: 'r' })),
    ).toMatchObject({ value: 2 });
    expect(
      await to({ goal: 'refund' }, RETURN, judgeSaying({ turn: 9, reason: 'r' })),
    ).toMatchObject({
      value: null,
      detail: { judge_error: 'invalid' },
    });
  });

  test("uses the user's goal if the spec has none", async () => {
    const output = await turnsToGoal.evaluate({
      trace: RETURN,
      case: { goal: 'g', goal_tool: 'refund' },
    });
    expect(output).toMatchObject({ value: 3 });
  });

  test.each([
    { when: 'the tool never ran', params: { tool: 'cancel' } },
    { when: 'it was never said', params: { answer: 'cancelled' } },
  ])('is missed, not unknown, where $when', async ({ params }) => {
    expect(await to(params)).toMatchObject({ value: null, missed: true });
  });

  test('is unknown, not missed, where calls were not captured or the recording breaks off', async () => {
    const unseen = simpleTrace({ id: 'c', turns: [{ user: 'Hi', answer: 'Done.' }] });
    const output = await to({ tool: 'refund' }, unseen);
    expect(output.value).toBeNull();
    expect(output.missed).toBeUndefined();
    expect((await to({ answer: 'x' }, { ...RETURN, status: 'incomplete' })).missed).toBeUndefined();
  });
});
