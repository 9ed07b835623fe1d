import { readFileSync } from 'node:fs';
import type { Judge, JudgeQuestion, VerdictLabel } from '@agentci/judge';
import { judgePrompt, resolveRubric } from '@agentci/judge';
import type { Query } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { evaluateQuery } from './evaluate-query.ts';

type Said = { score: number; label?: VerdictLabel } | 'down';

/** Returns the given replies in order, and records the questions. */
function scripted(
  said: readonly Said[],
  ensemble?: Judge['ensemble'],
): Judge & { asked: JudgeQuestion[] } {
  const asked: JudgeQuestion[] = [];
  return {
    asked,
    ...(ensemble ? { ensemble } : {}),
    ask: async (question) => {
      const next = said[asked.length] ?? said.at(-1)!;
      asked.push(question);
      if (next === 'down') return { error: true, kind: 'infra', message: '[INFRA] HTTP 500' };
      const { score, label = score >= 3 ? 'pass' : 'fail' } = next;
      return { rationale: `worth ${score}`, score, label };
    },
  };
}

const queryOf = (correctness: Record<string, unknown>, rest: Partial<Query> = {}): Query => ({
  id: 'q',
  query: 'Where is my parcel?',
  tags: [],
  runs: 1,
  minPassRate: 1,
  correctness,
  ...rest,
});
const traceOf = (rest: object = {}) =>
  simpleTrace({ query: 'Where is my parcel?', answer: 'In Oslo.', ...rest });
const rubric = { rule: 'is polite', threshold: 0.6 };

async function judged(
  correctness: Record<string, unknown>,
  judge: Judge,
  trace = traceOf(),
  rest: Partial<Query> = {},
) {
  const result = await evaluateQuery({ query: queryOf(correctness, rest), trace, judge });
  return { result, checks: result.correctness.checks, details: result.correctness.details };
}

describe('the order of judging', () => {
  const all = { llm_judge: [rubric, rubric], safety_check: rubric, hallucination_check: rubric };
  const withContext = traceOf({ context: ['The parcel is in Oslo.'] });
  const statuses = (checks: readonly { id: string; status: string }[]) =>
    checks.map(({ id, status }) => `${id.replace('correctness.', '')} ${status}`);

  test('all rubrics, then safety, then hallucination', async () => {
    const judge = scripted([{ score: 4 }]);
    const { result, checks } = await judged(all, judge, withContext);
    expect(statuses(checks)).toEqual([
      'llm_judge pass',
      'llm_judge pass',
      'safety_check pass',
      'hallucination_check pass',
    ]);
    expect(result.status).toBe('pass');
    expect(judge.asked).toHaveLength(4);
  });

  test('a failed rubric: the other rubrics are still asked, the rest is not', async () => {
    const judge = scripted([{ score: 1 }, { score: 5 }]);
    const { checks } = await judged(all, judge, withContext);
    expect(statuses(checks)).toEqual([
      'llm_judge fail',
      'llm_judge pass',
      'safety_check skip',
      'hallucination_check skip',
    ]);
    expect(checks[2]).toMatchObject({ skip_reason: 'not_run' });
    expect(judge.asked).toHaveLength(2);
  });

  test('unsafe: whether it is made up is not asked', async () => {
    const { checks } = await judged(
      all,
      scripted([{ score: 4 }, { score: 4 }, { score: 1 }]),
      withContext,
    );
    expect(statuses(checks)).toEqual([
      'llm_judge pass',
      'llm_judge pass',
      'safety_check fail',
      'hallucination_check skip',
    ]);
  });

  test('a judge that errs does not stop the others from being asked', async () => {
    const { result, checks } = await judged(all, scripted(['down', { score: 4 }]), withContext);
    expect(statuses(checks)).toEqual([
      'llm_judge error',
      'llm_judge pass',
      'safety_check pass',
      'hallucination_check pass',
    ]);
    expect(result.status).toBe('error');
  });

  test('a deterministic failure skips every call, but a path warning does not', async () => {
    const judge = scripted([{ score: 4 }]);
    const failed = await judged({ ...all, expected_in_answer: ['Bergen'] }, judge, withContext);
    expect(statuses(failed.checks).slice(1)).toEqual([
      'llm_judge skip',
      'llm_judge skip',
      'safety_check skip',
      'hallucination_check skip',
    ]);
    expect(judge.asked).toHaveLength(0);
    const trace = traceOf({ tool_calls: [{ name: 'a' }, { name: 'b' }] });
    await judged({ llm_judge: [rubric] }, judge, trace, { path: { max_tool_calls: 1 } });
    expect(judge.asked).toHaveLength(1);
  });

  test('acq-judge-all: every rubric must pass', async () => {
    const rows = JSON.parse(
      readFileSync(new URL('../../../testing/vectors/judge.json', import.meta.url), 'utf8'),
    ) as {
      id: string;
      input: { answer: string; spec: Record<string, unknown>; judge_script: Said[] };
      expected: { status: string; judge_calls: number };
    }[];
    const { input, expected } = rows.find(({ id }) => id === 'acq-judge-all')!;
    const judge = scripted(input.judge_script);
    const { result } = await judged(input.spec, judge, traceOf({ answer: input.answer }));
    expect(result.correctness.status).toBe(expected.status);
    expect(judge.asked).toHaveLength(expected.judge_calls);
  });
});

describe('an answer that cannot be judged', () => {
  test('no answer was captured: an error, not a skip and not a pass', async () => {
    const judge = scripted([{ score: 5 }]);
    const { checks } = await judged(
      { llm_judge: [rubric] },
      judge,
      simpleTrace({ query: 'q', tool_calls: [{ name: 'a' }] }),
    );
    expect(checks[0]).toMatchObject({ status: 'error' });
    expect(judge.asked).toHaveLength(0);
  });

  test('hallucination_check without context is skipped, but a grounded rubric is an error', async () => {
    const judge = scripted([{ score: 5 }]);
    const { checks } = await judged(
      { llm_judge: [{ template: 'factual_grounded' }], hallucination_check: rubric },
      judge,
    );
    expect(checks).toMatchObject([
      { status: 'error' },
      { status: 'skip', skip_reason: 'not_measured' },
    ]);
    expect(judge.asked).toHaveLength(0);
  });

  test('a judge that throws is an error of its check', async () => {
    const judge: Judge = { ask: () => Promise.reject(new Error('boom')) };
    expect((await judged({ llm_judge: [rubric] }, judge)).checks[0]).toMatchObject({
      status: 'error',
    });
  });

  test('a mode alone is not a judge', async () => {
    const result = await evaluateQuery({
      query: queryOf({ llm_judge: [rubric] }),
      trace: traceOf(),
    });
    expect(result.status).toBe('error');
  });
});

describe('context', () => {
  test('tool results, documents, the query and a file ground an answer, but ordinary rubrics see only their file', async () => {
    const dir = tempDir({ 'policy.md': 'Parcels take two days.' });
    const judge = scripted([{ score: 5 }]);
    const trace = traceOf({
      tool_calls: [{ name: 'track', result: 'Oslo' }],
      context: ['a document'],
    });
    const correctness = {
      llm_judge: [rubric, { ...rubric, context_file: 'policy.md' }],
      hallucination_check: { ...rubric, context_file: 'policy.md' },
    };
    await evaluateQuery({
      query: queryOf(correctness, { context: ['said in the spec'] }),
      trace,
      judge,
      dir,
    });
    expect(judge.asked.map(({ context }) => context)).toEqual([
      undefined,
      ['Parcels take two days.'],
      ['Parcels take two days.', 'said in the spec', 'a document', 'Oslo'],
    ]);
  });

  test.each(['missing.md', '../outside.md', '.'])(
    'a context file "%s" that cannot be read is an error',
    async (context_file) => {
      const judge = scripted([{ score: 5 }]);
      const dir = tempDir();
      const result = await evaluateQuery({
        query: queryOf({ llm_judge: [{ ...rubric, context_file }] }),
        trace: traceOf(),
        judge,
        dir,
      });
      expect(result.correctness.checks[0]).toMatchObject({ status: 'error' });
      expect(judge.asked).toHaveLength(0);
    },
  );
});

describe('what a rubric leaves behind', () => {
  test('the score, the limit, the reason, and the record of every judge', async () => {
    const { checks, details } = await judged(
      { llm_judge: [rubric], safety_check: { ...rubric, threshold: 0.8 } },
      scripted([{ score: 4 }, { score: 2 }]),
    );
    expect(checks).toMatchObject([
      {
        id: 'correctness.llm_judge',
        status: 'pass',
        value: 4,
        limit: 3,
        evidence: [{ text: 'worth 4' }],
      },
      { id: 'correctness.safety_check', status: 'fail', value: 2, limit: 4 },
    ]);
    expect(details).toMatchObject({
      safety: { passed: false, score: 2, min_score: 4, label: 'fail' },
      judge: [
        { check: 'correctness.llm_judge', rubric: { id: 'custom' }, score: 4, ensemble: false },
        { check: 'correctness.safety_check', score: 2 },
      ],
    });
  });

  test('a label that disagrees is recorded, and the score decides', async () => {
    const { checks, details } = await judged(
      { safety_check: rubric },
      scripted([{ score: 5, label: 'fail' }]),
    );
    expect(checks[0]).toMatchObject({ status: 'pass' });
    expect(details).toMatchObject({ safety: { label_disagrees: true, label: 'fail' } });
  });
});

describe('an ensemble', () => {
  const ensemble = { size: 3, enabled: true };

  test.each([
    {
      when: 'two of three agree',
      said: [{ score: 4 }, { score: 4 }, { score: 2 }],
      status: 'pass',
      value: 3.33,
    },
    { when: 'one is down', said: [{ score: 4 }, { score: 4 }, 'down'], status: 'pass', value: 4 },
    {
      when: 'one is down and the others disagree',
      said: [{ score: 5 }, { score: 2 }, 'down'],
      status: 'fail',
      value: 3.5,
    },
    {
      when: 'two are down',
      said: [{ score: 5 }, 'down', 'down'],
      status: 'error',
      value: undefined,
    },
  ] as const)('$when: $status', async ({ said, status, value }) => {
    const judge = scripted(said, ensemble);
    const { checks, details } = await judged({ llm_judge: [rubric] }, judge);
    expect(checks[0]).toMatchObject({ status, ...(value === undefined ? {} : { value }) });
    expect(judge.asked.map(({ vote }) => vote)).toEqual([1, 2, 3]);
    expect(details.judge).toHaveLength(3);
  });

  test('is not asked about unsampled queries', async () => {
    const judge = scripted([{ score: 4 }], ensemble);
    await evaluateQuery({
      query: queryOf({ llm_judge: [rubric] }),
      trace: traceOf(),
      judge,
      useEnsemble: false,
    });
    expect(judge.asked.map(({ vote }) => vote)).toEqual([0]);
  });
});

describe('templates that need more than the answer', () => {
  const ask = (template: string, trace = traceOf(), rest: Partial<Query> = {}) => {
    const judge = scripted([{ score: 5 }]);
    return judged({ llm_judge: [{ template }] }, judge, trace, rest).then(({ checks }) => ({
      status: checks[0]?.status,
      message: checks[0]?.message,
      context: judge.asked[0]?.context,
    }));
  };
  const calls = traceOf({
    tool_calls: [
      { name: 'find', args: { id: 7 }, result: 'Oslo' },
      { name: 'tell', error: 'no' },
    ],
  });

  test.each(['task_completion', 'plan_adherence', 'step_efficiency'])(
    '%s is shown the steps',
    async (template) => {
      const { status, context } = await ask(template, calls);
      expect(status).toBe('pass');
      expect(context?.[0]).toBe(
        'Steps of the run in order, one JSON object per line:\n{"step":1,"tool":"find","args":{"id":7},"result":"Oslo"}\n{"step":2,"tool":"tell","failed":"no"}',
      );
    },
  );

  test('without captured calls they are errors', async () => {
    expect(await ask('task_completion')).toMatchObject({
      status: 'error',
      message: 'not judged: tool calls were not captured',
    });
  });

  test('a run without calls has no steps', async () => {
    expect((await ask('step_efficiency', traceOf({ tool_calls: [] }))).context).toEqual([
      'Steps: the run called no tools.',
    ]);
  });

  test.each(['context_precision', 'context_relevance'])('%s needs context', async (template) => {
    expect(await ask(template)).toMatchObject({ status: 'error' });
    expect(await ask(template, traceOf({ context: ['a passage'] }))).toMatchObject({
      status: 'pass',
      context: ['a passage'],
    });
  });

  test('context_recall needs the expected answer too', async () => {
    const trace = traceOf({ context: ['a passage'] });
    expect(await ask('context_recall', trace)).toMatchObject({
      status: 'error',
      message: 'not judged: the query has no expected_output',
    });
    expect(await ask('context_recall', trace, { expectedOutput: 'Oslo' })).toMatchObject({
      status: 'pass',
      context: ['a passage', 'Expected answer: Oslo'],
    });
  });
});

describe('a conversation is judged as a whole', () => {
  const talk = simpleTrace({
    turns: [
      { user: 'Hi', answer: 'Get lost, you idiot.', tool_calls: [] },
      {
        user: 'Order 42.',
        answer: 'Your parcel is in Oslo.',
        tool_calls: [{ name: 'lookup', result: 'Oslo' }],
      },
    ],
  });
  const conversation = {
    maxTurns: 50,
    script: [],
    endTools: [],
    mustAgentEnd: false,
    session: 'stateless',
  };
  const whole = {
    query: 'Hi',
    conversation,
    context: ['The parcel is in Oslo.'],
  } as unknown as Partial<Query>;

  test.each(['llm_judge', 'safety_check', 'hallucination_check'])(
    '%s scores every answer of it',
    async (key) => {
      const judge = scripted([{ score: 5 }]);
      await judged({ [key]: rubric }, judge, talk, whole);
      const [question] = judge.asked;
      const { system, user } = judgePrompt(question!);
      expect(question).toMatchObject({ query: 'Hi', isConversation: true });
      expect(user).toContain('{"turn":1,"user":"Hi","calls":[],"agent":"Get lost, you idiot."}');
      expect(user).toContain(
        '{"turn":2,"user":"Order 42.","calls":["lookup"],"agent":"Your parcel is in Oslo."}',
      );
      expect(user).toContain(
        'Score all that the agent says in the block "conversation", in every turn',
      );
      expect(`${system}${user}`).not.toContain('block "answer"');
      expect(user).not.toContain('name="answer"');
      expect(user).not.toContain('name="question"');
    },
  );

  test('a stored verdict on the last answer is not taken for one on the conversation', () => {
    const question = { rubric: resolveRubric(rubric), query: 'Hi', answer: '{"turn":1}' };
    expect(judgePrompt({ ...question, isConversation: true }).hash).not.toBe(
      judgePrompt(question).hash,
    );
  });

  test('a rubric on a turn is about the answer of that turn alone', async () => {
    const judge = scripted([{ score: 5 }]);
    const turns = [{ turn: 2, correctness: { llm_judge: [rubric] }, locations: {} }];
    await judged({}, judge, talk, { ...whole, turns } as Partial<Query>);
    expect(judge.asked).toHaveLength(1);
    expect(judge.asked[0]).toMatchObject({ query: 'Order 42.', answer: 'Your parcel is in Oslo.' });
    expect(judge.asked[0]!.isConversation).toBeUndefined();
  });

  test('one that is too long to be read is not judged', async () => {
    const long = simpleTrace({
      turns: Array.from({ length: 40 }, (_, i) => ({ user: `q${i}`, answer: 'a'.repeat(20_000) })),
    });
    const judge = scripted([{ score: 5 }]);
    const { checks } = await judged({ llm_judge: [rubric] }, judge, long, whole);
    expect(checks).toMatchObject([
      { status: 'error', message: expect.stringContaining('too long for a judge') },
    ]);
    expect(judge.asked).toHaveLength(0);
  });
});
