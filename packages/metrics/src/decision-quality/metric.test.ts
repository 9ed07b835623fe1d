import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { metric } from './decision-quality.ts';

const TRUTH = 'rollback auth-service to v2.3.0';
const trace = simpleTrace({
  answer: 'Because of the deployment:\n- Rollback auth-service to v2.3.0',
});

describe('decision_quality as a metric', () => {
  test.each([
    { where: 'its own parameters', input: { trace, params: { ground_truth: TRUTH } } },
    { where: 'the metadata', input: { trace, case: { metadata: { ground_truth: TRUTH } } } },
    { where: 'the expected output', input: { trace, case: { expected_output: TRUTH } } },
    {
      where: 'a list of alternatives',
      input: { trace, params: { ground_truth: ['else', TRUTH] } },
    },
    {
      where: 'the outcome',
      input: { outcome: ['Rollback auth-service to v2.3.0'], params: { ground_truth: TRUTH } },
    },
    {
      where: 'a pointer',
      input: {
        outcome: { output: { plan: [TRUTH] } },
        params: { ground_truth: TRUTH, actions: '/plan' },
      },
    },
  ])('scores 1 with what it needs from $where', async ({ input }) => {
    const found = await metric.evaluate(input);
    expect(found).toMatchObject({
      name: 'decision_quality',
      value: 1,
      detail: { category: 'excellent', action_count: 1 },
    });
  });

  test.each([
    { when: 'there is no ground truth', input: { trace } },
    {
      when: 'there is no answer',
      input: { trace: simpleTrace({ tool_calls: [] }), params: { ground_truth: TRUTH } },
    },
    {
      when: 'the pointer leads nowhere',
      input: { trace, params: { ground_truth: TRUTH, actions: '/plan' } },
    },
    { when: 'there is no trace', input: { params: { ground_truth: TRUTH } } },
  ])('is not measured when $when', async ({ input }) => {
    expect(await metric.evaluate(input)).toMatchObject({
      value: null,
      detail: { reason: expect.any(String) },
    });
  });

  test('an answer without list items proposes nothing', async () => {
    const prose = simpleTrace({ answer: 'I would look around.' });
    expect(await metric.evaluate({ trace: prose, params: { ground_truth: TRUTH } })).toMatchObject({
      value: 0,
    });
  });

  test('weights that do not add up are refused with the other parameters', () => {
    const weights = { validity: 1, specificity: 1, correctness: 1 };
    expect(metric.params!().safeParse({ weights }).success).toBe(false);
    expect(
      metric.params!().safeParse({ weights: { validity: 0, specificity: 0.5, correctness: 0.5 } })
        .success,
    ).toBe(true);
  });
});
