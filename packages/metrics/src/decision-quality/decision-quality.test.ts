import data from '@agentci/testing/vectors/experiments.json' with { type: 'json' };
import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ActionSource, actionsOf, listItems } from './actions.ts';
import { categoryOf, isActionable } from './category.ts';
import { roundTo4 } from './round.ts';
import { scoreDecisionQuality } from './score-decision-quality.ts';

const TRUTH = 'rollback auth-service deployment to v2.3.0 verify database connection pool';

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
}
const rows = (kind: string): Row[] => (data.vectors as Row[]).filter((row) => row.kind === kind);

describe('vectors', () => {
  test.each(['spec', 'upstream'] as const)('the %s profile gives the expected parts', (profile) => {
    const found = rows(`dq.${profile}_profile`);
    expect(found.length).toBeGreaterThan(5);
    for (const { id, input, expected } of found) {
      const { ground_truth: groundTruth, actions } = input as {
        ground_truth: string;
        actions: string[];
      };
      const score = scoreDecisionQuality({ actions, groundTruth, profile });
      expect({ id, ...score }).toMatchObject({ id, ...expected });
    }
  });

  test.each(rows('dq.category'))('$id', ({ input, expected }) => {
    const dq = input.dq as number;
    expect({ category: categoryOf(dq), actionable: isActionable(dq) }).toEqual(expected);
  });

  test.each(rows('dq.correctness'))('$id', ({ input, expected }) => {
    const { ground_truth: groundTruth, action } = input as { ground_truth: string; action: string };
    const { correctness } = scoreDecisionQuality({ actions: [action], groundTruth });
    expect(correctness).toBe(expected.correctness);
  });
});

// The definition's worked examples contradict its formulas. The formulas win.
describe('the worked examples, by the formulas', () => {
  test.each([
    {
      name: 'C2_045 (printed 0.400)',
      truth: TRUTH,
      actions: ['Investigate recent changes', 'Review system metrics'],
      spec: { validity: 1, specificity: 0, correctness: 0, dq: 0.4 },
      upstream: { validity: 1, specificity: 0, correctness: 0, dq: 0.4 },
    },
    {
      name: 'C3_045 (printed 0.892)',
      truth: TRUTH,
      actions: [
        'Rollback auth-service to v2.3.0 using kubectl rollout undo',
        'Verify database connection pool max_connections setting',
        'Monitor error rates for 5 minutes post-rollback',
      ],
      spec: { validity: 1, specificity: 0.5567, correctness: 0.3333, dq: 0.667 },
      upstream: { validity: 1, specificity: 0.78, correctness: 0.3333, dq: 0.734 },
    },
    {
      name: 'the usage example (printed 0.876)',
      truth: 'rollback auth-service to v2.3.0 verify database pool',
      actions: ['Rollback auth-service to v2.3.0', 'Check database connection pool'],
      spec: { validity: 1, specificity: 0.835, correctness: 0.5, dq: 0.8005 },
      upstream: { validity: 1, specificity: 0.835, correctness: 0.5, dq: 0.8005 },
    },
  ])('$name', ({ actions, truth, spec, upstream }) => {
    expect(scoreDecisionQuality({ actions, groundTruth: truth })).toMatchObject(spec);
    expect(
      scoreDecisionQuality({ actions, groundTruth: truth, profile: 'upstream' }),
    ).toMatchObject(upstream);
  });
});

describe('the rule behind a score', () => {
  const score = (action: string) =>
    scoreDecisionQuality({ actions: [action], groundTruth: TRUTH }).actions[0]!;

  test.each([
    { action: 'Rollback auth-service to v2.3.0', score: 1, rule: 'feasible' },
    { action: 'Set memory usage to 300%', score: 0, rule: 'impossible_value' },
    { action: 'Scale the deployment to -3 replicas', score: 0, rule: 'impossible_value' },
    { action: 'retry -3 times', score: 0, rule: 'impossible_value' },
    { action: 'Scale to \u22123 replicas', score: 0, rule: 'impossible_value' },
    { action: 'Scale to minus 3 replicas', score: 0, rule: 'impossible_value' },
    { action: 'Scale to 5 minus 3 replicas', score: 1, rule: 'feasible' },
    { action: 'Scale to 2\u20133 replicas', score: 1, rule: 'feasible' },
    { action: 'kubectl scale deploy/api --replicas=-2', score: 0, rule: 'impossible_value' },
    { action: 'Set the memory limit to -512Mi', score: 0, rule: 'impossible_value' },
    { action: 'Raise the timeout to -30 seconds', score: 0, rule: 'impossible_value' },
    { action: 'Scale from 2-3 replicas to 5 replicas', score: 1, rule: 'feasible' },
    { action: 'Raise the limit to 1,500 percent', score: 0, rule: 'impossible_value' },
    { action: 'Increase replicas by 200%', score: 1, rule: 'feasible' },
    { action: 'Increase replicas by about 200%', score: 1, rule: 'feasible' },
    { action: 'Keep CPU below 100%', score: 1, rule: 'feasible' },
    { action: 'restart and rollback', score: 0, rule: 'contradictory_directives' },
    { action: 'Roll back and then restart', score: 0, rule: 'contradictory_directives' },
    { action: 'Restart the pod and rollback the pod', score: 0, rule: 'contradictory_directives' },
    { action: 'Start the worker and stop it', score: 0, rule: 'contradictory_directives' },
    { action: 'Enable the cache and disable the old queue', score: 1, rule: 'feasible' },
    { action: 'Scale up and scale down', score: 0, rule: 'contradictory_directives' },
    { action: 'kubectl get pods |', score: 0, rule: 'malformed_command' },
    { action: 'kubectl', score: 0, rule: 'malformed_command' },
    { action: 'Run `docker run --name=`', score: 0, rule: 'malformed_command' },
    { action: 'Run `docker exec "api`', score: 0, rule: 'malformed_command' },
    { action: 'Run `kubectl get (pods`', score: 0, rule: 'malformed_command' },
    { action: "kubectl logs of the pod's container", score: 1, rule: 'feasible' },
    { action: 'Restart `auth-service`', score: 1, rule: 'feasible' },
    { action: 'Rollback auth-service using kubectl', score: 1, rule: 'feasible' },
  ])('validity of "$action" is $score by $rule', ({ action, score: value, rule }) => {
    expect(score(action).validity).toMatchObject({ score: value, rule });
  });

  test.each([
    {
      action: 'Rollback auth-service to v2.3.0 using kubectl',
      score: 1,
      rule: 'version_and_target',
    },
    { action: 'Upgrade to 2.3.0', score: 0.67, rule: 'version_only' },
    { action: 'Rollback the authentication service', score: 0.67, rule: 'service_or_command' },
    { action: 'Make a rapid rollback', score: 0, rule: 'vague' },
    { action: 'Rollback recent deployments', score: 0.33, rule: 'generic_noun' },
    { action: 'Investigate the issue', score: 0, rule: 'vague' },
  ])('specificity of "$action" is $score by $rule', ({ action, score: value, rule }) => {
    expect(score(action).specificity).toMatchObject({ score: value, rule });
  });

  test('lists, patterns and weights are the caller’s to choose', () => {
    const profile = { services: ['ledger'], versionPattern: 'build-\\d+', commands: ['nomad'] };
    const actions = ['nomad job revert ledger to build-7'];
    const found = scoreDecisionQuality({
      actions,
      groundTruth: ['something else', 'revert ledger to build-7'],
      profile,
      weights: { validity: 0, specificity: 0.5, correctness: 0.5 },
    });
    expect(found).toMatchObject({
      specificity: 1,
      correctness: 1,
      dq: 1,
      category: 'excellent',
      actionable: true,
    });
    expect(() =>
      scoreDecisionQuality({
        actions,
        groundTruth: '',
        weights: { validity: 1, specificity: 1, correctness: 0 },
      }),
    ).toThrow(RangeError);
  });

  test('no actions score 0 throughout', () => {
    expect(scoreDecisionQuality({ actions: [], groundTruth: TRUTH })).toMatchObject({
      validity: 0,
      specificity: 0,
      correctness: 0,
      dq: 0,
      category: 'poor',
      actionable: false,
      action_count: 0,
    });
  });
});

test('any text scores between 0 and 1, quickly', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 300 }), { maxLength: 5 }),
      fc.string(),
      (actions, groundTruth) => {
        const { dq } = scoreDecisionQuality({ actions, groundTruth });
        return dq >= 0 && dq <= 1;
      },
    ),
  );
  const started = performance.now();
  const hostile = [
    '1'.repeat(50_000),
    'and '.repeat(20_000),
    '`'.repeat(50_000),
    'by '.repeat(20_000),
  ];
  scoreDecisionQuality({ actions: hostile, groundTruth: TRUTH });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test.each([
  { value: 0.33345, rounded: 0.3335 },
  { value: 0.03125, rounded: 0.0312 },
  { value: 0.09375, rounded: 0.0938 },
  { value: 2 / 3, rounded: 0.6667 },
])('$value rounds to $rounded', ({ value, rounded }) => {
  expect(roundTo4(value)).toBe(rounded);
});

describe('where actions come from', () => {
  test('the items of every kind of list', () => {
    expect(
      listItems('Summary: x\n- one\n* two\n 3. three\n4) four\n• five\nprose - not an item'),
    ).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  test.each([
    { answer: '- a\n- b', source: 'list', actions: ['a', 'b'] },
    { answer: 'plain prose', source: 'list', actions: [] },
    { answer: '{"plan": {"actions": ["a"]}}', source: '/plan/actions', actions: ['a'] },
    { answer: '```json\n{"actions": ["a", " "]}\n```', source: '/actions', actions: ['a'] },
    { answer: '{"actions": [1]}', source: '/actions', actions: undefined },
    { answer: '{}', source: '/__proto__', actions: undefined },
    { answer: 'no json', source: '/actions', actions: undefined },
    { answer: ' ', source: 'list', actions: undefined },
  ])('$source of $answer', ({ answer, source, actions }) => {
    const found = actionsOf(simpleTrace({ answer }), source as ActionSource);
    expect(found.ok ? found.actions : undefined).toEqual(actions);
  });
});
