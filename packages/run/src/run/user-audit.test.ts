import type { Judge, JudgeTask } from '@agentci/judge';
import { parseSpec } from '@agentci/spec';
import { describe, expect, test } from 'vitest';
import type { AgentFunction } from './run-options.ts';
import { runSuite } from './run-suite.ts';

const spec = (queries: number) => `
agent: shop
queries:
${Array.from(
  { length: queries },
  (_, i) => `  - id: q${i + 1}
    conversation:
      start: I want to return something.
      user: {facts: {order: "42"}, goal: the lamp is refunded}
    correctness: {not_in_answer: [SECRET-RUBRIC-WORD]}
`,
).join('')}`;

const record = {
  model: 'm',
  prompt_hash: '',
  rubric: { id: '', version: '' },
  vote: 0,
  cached: false,
  calls: 1,
  cost_usd: 0,
};
const agent: AgentFunction = () => ({ answer: 'Which order?', tool_calls: [] });

/**
 * Simulates the user with these messages, and returns one of these audit replies per conversation.
 */
function judgeOf(words: string[], audits: unknown[], seen: JudgeTask[] = []): Judge {
  let said = 0;
  let audited = 0;
  return {
    ask: async () => ({ error: true, kind: 'no_model', message: 'only tasks' }),
    perform: async (task) => {
      seen.push(task);
      const reply =
        task.id === 'user-audit'
          ? audits[audited++]
          : { message: words[said++ % words.length], done: true, reason: '', uses: [] };
      if (reply === undefined) return { error: true, kind: 'infra', message: 'the model is down' };
      const why = task.check(reply);
      return why === undefined ? { reply, record } : { error: true, kind: 'invalid', message: why };
    },
  };
}

async function audit(queries: number, judge: Judge | 'off', text = spec(queries)) {
  const { suite, diagnostics } = parseSpec(text, { file: 'spec.yaml' });
  if (suite === undefined) throw new Error(JSON.stringify(diagnostics));
  return runSuite({ suite, runner: agent, judge, workers: 1, auditUser: true });
}
const fault = (turn: number) => ({ faults: [{ turn, what: 'helps the agent' }] });
const clean = { faults: [] };

describe('--audit-user', () => {
  test('counts conversations with a mistake, by a judge or by the detectors, with an interval', async () => {
    const seen: JudgeTask[] = [];
    // The third user invents an order, which needs no judge.
    const run = await audit(
      4,
      judgeOf(['Order 42.', 'Order 42.', 'Order 99.', 'Order 42.'], [clean, fault(2), clean], seen),
    );
    expect(run.user_audit).toMatchObject({
      conversations: 4,
      faulty: 2,
      rate: 0.5,
      messages: 4,
      faulty_messages: 2,
      undecided: 0,
      faults: [
        { id: 'q2', turn: 2, by: 'judge', what: 'helps the agent' },
        { id: 'q3', turn: 2, by: 'detector', what: expect.stringContaining('99') },
      ],
    });
    expect(run.user_audit?.interval?.low).toBeCloseTo(0.15, 2);
    expect(run.user_audit?.interval?.high).toBeCloseTo(0.85, 2);
    expect(run.notices?.join('\n')).toContain(
      'a fault in 2 of 4 conversations (50 %, 95 % interval 15 % to 85 %)',
    );
    // The audit only measures. The verdict on the agent stays the same.
    expect(run.results.map(({ status }) => status)).toEqual(['pass', 'pass', 'error', 'pass']);
    expect(JSON.stringify(seen)).not.toContain('SECRET-RUBRIC-WORD');
  });

  test('a conversation that could not be audited is neither clean nor faulty', async () => {
    const run = await audit(2, judgeOf(['Order 42.'], [clean]));
    expect(run.user_audit).toMatchObject({
      conversations: 1,
      faulty: 0,
      undecided: 1,
      interval: { low: 0 },
    });
    expect(run.summary.exit_code).toBe(0);
  });

  test.each([
    { when: 'the judge gave no answer', audits: [] },
    { when: 'a fault is reported for a turn that never came', audits: [fault(7)] },
    {
      when: 'a fault is reported for the first message, which the spec provides',
      audits: [fault(1)],
    },
  ])('an audit that saw nothing is an error, where $when', async ({ audits }) => {
    const run = await audit(1, judgeOf(['Order 42.'], audits));
    expect(run.user_audit).toMatchObject({
      conversations: 0,
      rate: null,
      interval: null,
      undecided: 1,
    });
    expect(run.checks).toMatchObject([{ id: 'user.audit', status: 'error' }]);
    expect(run.summary.exit_code).toBe(2);
  });

  test.each([
    { code: 'OPTIONS_CONFLICT', run: () => audit(1, 'off') },
    {
      code: 'NOTHING_FOUND',
      run: () =>
        audit(
          1,
          judgeOf([], []),
          'agent: a\nqueries: [{query: q, correctness: {not_in_answer: [x]}}]\n',
        ),
    },
  ])('is rejected with $code if it is impossible', async ({ code, run }) => {
    await expect(run()).rejects.toMatchObject({ code });
  });
});
