import { UserError } from '@agentci/lib/problems';
import type { RuleRecord } from '@agentci/results';
import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import type { CallInput } from './call.ts';
import { evaluateArguments } from './evaluate-arguments.ts';
import { evaluateBlocklist } from './evaluate-blocklist.ts';
import { evaluateRules } from './evaluate-rules.ts';

interface Vector {
  readonly id: string;
  readonly kind: string;
  readonly input: Record<string, unknown>;
  readonly expected: Record<string, unknown>;
  readonly note: string;
}

const rows = (kind: string): Vector[] =>
  (vectors as unknown as Vector[]).filter((row) => row.kind === kind);
const policyOf = (value: unknown) => value as Record<string, unknown>;

test.each(rows('seq.rules'))('$id $note', ({ input, expected }) => {
  const result = evaluateRules({
    calls: input.calls as CallInput[],
    rules: input.rules as unknown[],
    complete: input.extent === 'complete',
  });
  const wanted = expected as unknown as Partial<RuleRecord>[];
  expect(result.rules).toHaveLength(wanted.length);
  expect(result.rules).toMatchObject(wanted);
  expect(result.status).toBe(
    wanted.some(({ outcome }) => outcome === 'violated') ? 'fail' : 'pass',
  );
});

test('asm-vac-1: rules that never came up pass and say so', () => {
  const [row] = rows('seq.metric').filter(({ id }) => id === 'asm-vac-1');
  const result = evaluateRules({
    calls: row!.input.calls as string[],
    rules: row!.input.rules as unknown[],
  });
  expect(result).toMatchObject({ status: 'pass', exercised: 'not_exercised' });
});

test.each(rows('args.constraint'))('$id $note', ({ input, expected }) => {
  const result = evaluateArguments({
    calls: [{ tool: 't', arguments: { v: input.value } }],
    policy: { tools: { t: { arguments: { v: input.constraint } } } },
  });
  expect(result.status).toBe(expected.valid ? 'pass' : 'fail');
  expect(result.exercised).toBe('exercised');
});

test.each(rows('args.schema'))('$id $note', ({ input, expected }) => {
  const { violations, status } = evaluateArguments({
    calls: [{ tool: input.tool as string, arguments: input.args }],
    policy: { version: '2.0', schemas: { [input.tool as string]: input.schema } },
  });
  expect(status).toBe(expected.outcome);
  if (typeof expected.code === 'string')
    expect(violations).toMatchObject([{ code: expected.code }]);
});

test.each(rows('args.seed_policy'))('$id $note', ({ input, expected }) => {
  const options = input.options as { tools?: string[] };
  const calls = input.calls as CallInput[];
  expect(evaluateArguments({ calls, policy: policyOf(input.policy), ...options })).toMatchObject(
    expected,
  );
});

test.each([...rows('args.policy_v2'), ...rows('policy.decide')])(
  '$id $note',
  ({ input, expected }) => {
    const run = () =>
      evaluateArguments({ calls: [input.call as CallInput], policy: policyOf(input.policy) });
    if (expected.config_error) {
      expect(run).toThrow(UserError);
      return;
    }
    const result = run();
    expect(result.status).toBe(expected.status);
    if (expected.code !== undefined)
      expect(result.violations).toMatchObject([{ code: expected.code }]);
    if (expected.violations !== undefined)
      expect(result.violations).toMatchObject(expected.violations as object[]);
  },
);

describe('blocklists', () => {
  test.each(rows('blocklist'))('$id $note', ({ input, expected }) => {
    const { outcome, ...rest } = expected;
    const calls = (input.calls as string[] | undefined) ?? [input.tool as string];
    const result = evaluateBlocklist({ calls, blocklist: input.blocklist as string[] });
    expect(result).toMatchObject({ status: outcome, ...rest });
  });
});
