import type { RuleOutcome } from '@agentci/results';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateRules } from './evaluate-rules.ts';

const one = (rule: object, calls: readonly (string | object)[], complete = true) =>
  evaluateRules({ calls: calls as string[], rules: [rule], complete }).rules[0]!;
const call = (tool: string, args: object) => ({ tool, args });

describe('rules', () => {
  test.each<[string, object, string[], boolean, RuleOutcome, number[]]>([
    ['require', { type: 'require', tool: 'a' }, ['b', 'a', 'a'], true, 'held', [1]],
    ['require on an unfinished run', { type: 'require', tool: 'a' }, [], false, 'violated', []],
    [
      'before, the first one absent',
      { type: 'before', first: 'a', then: 'b' },
      ['a'],
      true,
      'not_exercised',
      [],
    ],
    [
      'before, the same tool on both sides',
      { type: 'before', first: 'a', then: 'a' },
      ['a'],
      true,
      'held',
      [0],
    ],
    [
      'before, late',
      { type: 'before', first: 'a', then: 'b' },
      ['b', 'x', 'a'],
      true,
      'violated',
      [0, 2],
    ],
    [
      'immediately_before, each one',
      { type: 'immediately_before', first: 'a', then: 'b' },
      ['a', 'b', 'x', 'b'],
      true,
      'violated',
      [2, 3],
    ],
    [
      'immediately_before, as the first call',
      { type: 'immediately_before', first: 'a', then: 'b' },
      ['b'],
      true,
      'violated',
      [0],
    ],
    [
      'immediately_before, kept',
      { type: 'immediately_before', first: 'a', then: 'b' },
      ['a', 'b', 'a', 'b'],
      true,
      'held',
      [0, 1, 2, 3],
    ],
    [
      'immediately_before, never',
      { type: 'immediately_before', first: 'a', then: 'b' },
      ['a'],
      true,
      'not_exercised',
      [],
    ],
    [
      'after, within 1 unless written',
      { type: 'after', trigger: 't', then: 'a' },
      ['t', 'a'],
      true,
      'held',
      [0, 1],
    ],
    [
      'after, each trigger for itself',
      { type: 'after', trigger: 't', then: 'a', within: 2 },
      ['t', 'a', 't'],
      true,
      'violated',
      [2],
    ],
    [
      'after, never triggered',
      { type: 'after', trigger: 't', then: 'a' },
      ['a'],
      true,
      'not_exercised',
      [],
    ],
    [
      'never_after, never triggered',
      { type: 'never_after', trigger: 't', forbidden: 'x' },
      ['x'],
      true,
      'not_exercised',
      [],
    ],
    [
      'eventually, too late',
      { type: 'eventually', tool: 'a', within: 1 },
      ['x', 'a'],
      false,
      'violated',
      [1],
    ],
    ['max_calls without a call', { type: 'max_calls', tool: 'a', max: 0 }, [], true, 'held', []],
    ['count, too few', { type: 'count', tool: 'a', min: 2 }, ['a'], true, 'violated', [0]],
    ['count, still open', { type: 'count', tool: 'a', min: 2 }, ['a'], false, 'not_exercised', []],
    ['count, exact', { type: 'count', tool: 'a', exact: 1 }, ['a'], true, 'held', [0]],
    [
      'sequence, loose',
      { type: 'sequence', tools: ['a', 'b'] },
      ['a', 'a', 'x', 'b', 'a'],
      true,
      'held',
      [0, 3],
    ],
    [
      'sequence, strict and interrupted',
      { type: 'sequence', tools: ['a', 'b'], strict: true },
      ['x', 'a', 'y', 'b'],
      true,
      'violated',
      [1, 2],
    ],
    [
      'sequence, strict with others around',
      { type: 'sequence', tools: ['a', 'b'], strict: true },
      ['x', 'a', 'b', 'y'],
      true,
      'held',
      [1, 2],
    ],
    [
      'sequence, a later member first',
      { type: 'sequence', tools: ['a', 'b'] },
      ['b', 'a'],
      true,
      'violated',
      [0],
    ],
    [
      'sequence, unfinished run',
      { type: 'sequence', tools: ['a', 'b'] },
      ['a'],
      false,
      'not_exercised',
      [],
    ],
    [
      'blocklist by pattern',
      { type: 'blocklist', pattern: 'danger' },
      ['a', 'run_danger_now'],
      true,
      'violated',
      [1],
    ],
    [
      'allowlist with globs',
      { type: 'allowlist', tools: ['get_*'] },
      ['get_a', 'put_a'],
      true,
      'violated',
      [1],
    ],
    [
      'a glob as operand',
      { type: 'before', first: 'auth*', then: 'admin_*' },
      ['authenticate', 'admin_x'],
      true,
      'held',
      [0, 1],
    ],
  ])('%s', (_, rule, calls, complete, outcome, spanned) => {
    expect(one(rule, calls, complete)).toMatchObject({ outcome, spanned });
  });

  test('a list of tools gives one obligation each, and the worst wins', () => {
    const rule = { type: 'before', first: 'auth', then: ['read', 'write', 'drop'] };
    expect(one(rule, ['write', 'auth', 'read'])).toMatchObject({
      rule_id: 'before:auth->read,write,drop',
      outcome: 'violated',
      spanned: [0, 1],
      obligations: [
        { of: 'read', outcome: 'held' },
        { of: 'write', outcome: 'violated' },
        { of: 'drop', outcome: 'not_exercised' },
      ],
    });
  });

  test('rules with the same operands have different ids', () => {
    const rule = { type: 'require', tool: 'a' };
    expect(
      evaluateRules({ calls: ['a'], rules: [rule, rule] }).rules.map(({ rule_id }) => rule_id),
    ).toEqual(['require:a', 'require:a#2']);
  });

  test.each([
    ['an argument that is missing does not match', call('sh', {}), 'held'],
    ['the texts in a list are matched', call('sh', { command: ['rm'] }), 'violated'],
    ['numbers are matched as text', call('sh', { command: 7 }), 'held'],
    ['a match counts', call('sh', { command: 'rm -rf x' }), 'violated'],
  ])('args_match: %s', (_, made, outcome) => {
    const rule = { type: 'blocklist', tools: [{ tool: 'sh', args_match: { command: '^rm\\b' } }] };
    expect(one(rule, [made]).outcome).toBe(outcome);
  });

  test('uncaptured arguments are unknown, and the verdict reports it', () => {
    const rule = { type: 'blocklist', tools: [{ tool: 'sh', args_match: { command: '^rm' } }] };
    expect(evaluateRules({ calls: ['sh'], rules: [rule] })).toMatchObject({
      status: 'error',
      rules: [{ unknown: [0] }],
    });
  });

  test('aliases are resolved in every operand', () => {
    const result = evaluateRules({
      calls: ['login_sso', 'get_x'],
      rules: [{ type: 'before', first: 'Login', then: 'Read' }],
      aliases: { Login: ['login', 'login_sso'], Read: ['get_*'] },
    });
    expect(result.rules).toMatchObject([{ outcome: 'held', spanned: [0, 1] }]);
  });

  test('a rule that does not compile is a user error with its place', () => {
    expect(() => evaluateRules({ calls: [], rules: [{ type: 'before', first: 'a' }] })).toThrow(
      /rules\[0\].*"then"/,
    );
  });
});

describe('laws', () => {
  const tool = fc.constantFrom('a', 'b', 'c');
  const calls = fc.array(tool, { maxLength: 12 });

  test('calls of unrelated tools change no outcome of rules about order and number', () => {
    const rule = fc.oneof(
      fc.record({ type: fc.constant('require'), tool }),
      fc.record({ type: fc.constant('before'), first: tool, then: tool }),
      fc.record({ type: fc.constant('never_after'), trigger: tool, forbidden: tool }),
      fc.record({ type: fc.constant('max_calls'), tool, max: fc.nat(3) }),
      fc.record({ type: fc.constant('sequence'), tools: fc.uniqueArray(tool, { minLength: 2 }) }),
      fc.record({ type: fc.constant('blocklist'), tools: fc.tuple(tool) }),
    );
    fc.assert(
      fc.property(
        calls,
        rule,
        fc.array(fc.nat(12), { maxLength: 4 }),
        fc.boolean(),
        (made, one, places, complete) => {
          const noisy = [...made] as string[];
          for (const place of places) noisy.splice(Math.min(place, noisy.length), 0, 'unrelated');
          const outcome = (list: readonly string[]) =>
            evaluateRules({ calls: list, rules: [one], complete }).rules[0]!.outcome;
          expect(outcome(noisy)).toBe(outcome(made));
        },
      ),
    );
  });

  test('an allowlist and the blocklist of all others agree', () => {
    fc.assert(
      fc.property(calls, fc.uniqueArray(tool, { minLength: 1, maxLength: 2 }), (made, allowed) => {
        const others = ['a', 'b', 'c'].filter((name) => !(allowed as string[]).includes(name));
        const allow = one({ type: 'allowlist', tools: allowed }, made);
        const block = one({ type: 'blocklist', tools: others }, made);
        expect([allow.outcome, allow.spanned]).toEqual([block.outcome, block.spanned]);
      }),
    );
  });

  test('before together with require of both means order', () => {
    fc.assert(
      fc.property(calls, (made) => {
        const { status } = evaluateRules({
          calls: made,
          rules: [
            { type: 'require', tool: 'a' },
            { type: 'require', tool: 'b' },
            { type: 'before', first: 'a', then: 'b' },
          ],
        });
        const isOrdered =
          made.includes('a') && made.includes('b') && made.indexOf('a') < made.indexOf('b');
        expect(status === 'pass').toBe(isOrdered);
      }),
    );
  });

  test('a decided unfinished run keeps its verdict if nothing more happens', () => {
    const rule = fc.oneof(
      fc.record({
        type: fc.constant('after'),
        trigger: tool,
        then: tool,
        within: fc.integer({ min: 1, max: 3 }),
      }),
      fc.record({ type: fc.constant('eventually'), tool, within: fc.integer({ min: 1, max: 5 }) }),
      fc.record({
        type: fc.constant('sequence'),
        tools: fc.uniqueArray(tool, { minLength: 2 }),
        strict: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(calls, rule, (made, each) => {
        const partial = one(each, made, false).outcome;
        if (partial !== 'not_exercised') expect(one(each, made, true).outcome).toBe(partial);
      }),
    );
  });
});
