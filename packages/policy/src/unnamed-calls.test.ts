import { describe, expect, test } from 'vitest';
import { evaluateArguments } from './evaluate-arguments.ts';
import { evaluateBlocklist } from './evaluate-blocklist.ts';
import { evaluateRules } from './evaluate-rules.ts';

/** Inputs of programs that do not know the name. */
const UNNAMED: readonly unknown[] = [
  null,
  undefined,
  7,
  '',
  ' ',
  {},
  { name: null },
  { name: '' },
  { tool: undefined },
  { name: 'unknown' },
];

describe('a call without a name', () => {
  test.each(UNNAMED.map((call) => [JSON.stringify(call) ?? 'undefined', call]))(
    '%s: no rule about tools passes',
    (_, call) => {
      const calls = [{ name: 'ls', args: {} }, call as never];
      const want = { status: 'error', reason: expect.stringContaining('call 2') };
      expect(evaluateBlocklist({ calls, blocklist: ['rm'] })).toMatchObject(want);
      expect(
        evaluateRules({ calls, rules: [{ type: 'never_after', trigger: 'ls', forbidden: 'rm' }] }),
      ).toMatchObject(want);
      expect(
        evaluateArguments({ calls, policy: { version: '2.0', tools: { deny: ['rm'] } } }),
      ).toMatchObject(want);
    },
  );

  test('does not hide a violation', () => {
    expect(evaluateBlocklist({ calls: ['rm', null as never], blocklist: ['rm'] })).toMatchObject({
      status: 'fail',
    });
  });
});

test.each([
  ['rules are missing', () => evaluateRules({ calls: [] } as never), 'POLICY_VALUE'],
  [
    'calls are missing',
    () => evaluateRules({ rules: [{ type: 'require', tool: 'ls' }] } as never),
    'POLICY_VALUE',
  ],
  [
    'the blocklist is missing',
    () => evaluateBlocklist({ calls: [] } as never),
    'POLICY_CANNOT_FAIL',
  ],
  [
    'calls of a blocklist are missing',
    () => evaluateBlocklist({ blocklist: ['rm'] } as never),
    'POLICY_VALUE',
  ],
])('reports it when %s', (_, act, code) => {
  expect(act).toThrow(expect.objectContaining({ code }));
});
