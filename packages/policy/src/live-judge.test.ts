import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyCall } from './call.ts';
import { explainCalls } from './explain.ts';
import { LiveJudge, openRules } from './live-judge.ts';
import { parsePolicy } from './parse-policy.ts';
import type { Policy } from './policy.ts';

const policyOf = (written: object): Policy => {
  const { policy, diagnostics } = parsePolicy(JSON.stringify(written), {
    file: 'policy.yaml',
    strict: true,
  });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return policy;
};

const tool = fc.constantFrom('a', 'b', 'c', 'mcp__s__a', 'x.b');
const name = fc.constantFrom('a', 'b', 'c', 'a*', '*', 's');
const selector = fc.oneof(
  name,
  fc.record({ tool: name, args_match: fc.record({ v: fc.constantFrom('^1', '2') }) }),
);
const selectors = fc.oneof(selector, fc.array(selector, { minLength: 1, maxLength: 3 }));
const count = fc.integer({ min: 0, max: 3 });
const rule = fc.oneof(
  fc.record({ type: fc.constant('require'), tool: selector }),
  fc.record({ type: fc.constant('before'), first: selector, then: selectors }),
  fc.record({ type: fc.constant('immediately_before'), first: selector, then: selectors }),
  fc.record({ type: fc.constant('after'), trigger: selector, then: selector }),
  fc.record({ type: fc.constant('never_after'), trigger: selector, forbidden: selector }),
  fc.record({
    type: fc.constant('eventually'),
    tool: selector,
    within: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ type: fc.constant('max_calls'), tool: selector, max: count }),
  fc.record({ type: fc.constant('count'), tool: selector, max: count }),
  fc.record({ type: fc.constant('count'), tool: selector, exact: count }),
  fc.record({ type: fc.constant('blocklist'), tools: fc.constantFrom(['b'], ['a*'], ['x.*']) }),
  fc.record({ type: fc.constant('allowlist'), tools: fc.constantFrom(['a', 'b'], ['a', 'c']) }),
  fc.record({
    type: fc.constant('sequence'),
    tools: fc.array(selector, { minLength: 2, maxLength: 4 }),
    strict: fc.boolean(),
  }),
);
const policy = fc.record(
  {
    tools: fc.constantFrom<object>(
      { a: { arguments: { v: { type: 'integer', max: 2 } } } },
      {
        allow: ['a', 'b'],
        b: { arguments: { v: { type: 'integer', max: 1 } }, on_violation: 'warn' },
      },
      { deny: ['c'] },
      { a: {} },
    ),
    limits: fc.record({ max_tool_calls_total: fc.integer({ min: 0, max: 6 }) }),
    blocklist: fc.constantFrom(['c'], ['x*']),
    enforcement: fc.record({ unconstrained_tools: fc.constantFrom('warn', 'deny') }),
    rules: fc.array(rule, { minLength: 1, maxLength: 5 }),
  },
  { requiredKeys: ['rules'] },
);
const call: fc.Arbitrary<PolicyCall> = fc
  .record(
    { name: tool, args: fc.record({ v: fc.integer({ min: 0, max: 3 }) }) },
    { requiredKeys: ['name'] },
  )
  .map((given) =>
    given.name === 'mcp__s__a'
      ? { ...given, name: 'a', rawName: 'mcp__s__a' }
      : (given as PolicyCall),
  );

const last = (judged: Policy, calls: readonly PolicyCall[], strict: boolean) => {
  const { verdict, by } = explainCalls({ policy: judged, calls, complete: false, strict }).calls.at(
    -1,
  )!;
  return { verdict, by: by.map(({ rule: id, policy_line }) => [id, policy_line]).sort() };
};

describe('a call judged before it is made', () => {
  test('gets the verdict of the whole run so far, for any policy', () => {
    fc.assert(
      fc.property(
        policy,
        fc.array(call, { maxLength: 12 }),
        fc.boolean(),
        (written, calls, strict) => {
          const judged = policyOf(written);
          const live = new LiveJudge(judged, { strict });
          for (const [i, one] of calls.entries()) {
            const { verdict, by } = live.judge(one);
            expect({
              verdict,
              by: by.map(({ rule: id, policy_line }) => [id, policy_line]).sort(),
            }).toEqual(last(judged, calls.slice(0, i + 1), strict));
          }
          const atEnd = explainCalls({ policy: judged, calls, complete: true, strict }).at_end;
          if (calls.every(({ args }) => args !== undefined))
            expect(live.atEnd().map(({ rule: id }) => id)).toEqual(atEnd.map(({ rule: id }) => id));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('leaves nothing behind when it is taken back', () => {
    fc.assert(
      fc.property(
        policy,
        fc.array(fc.tuple(call, fc.boolean()), { maxLength: 12 }),
        (written, given) => {
          const judged = policyOf(written);
          const live = new LiveJudge(judged);
          const kept: PolicyCall[] = [];
          for (const [one, isKept] of given) {
            expect(live.judge(one).verdict).toBe(last(judged, [...kept, one], false).verdict);
            if (isKept) kept.push(one);
            else live.takeBack();
            expect(live.calls).toBe(kept.length);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('of a tool that is forbidden by its name is refused with any arguments', () => {
    fc.assert(
      fc.property(policy, fc.array(call, { maxLength: 6 }), call, (written, calls, one) => {
        const live = new LiveJudge(policyOf(written));
        for (const before of calls) live.judge(before);
        if (live.forbids(one) !== undefined)
          expect(live.judge({ ...one, args: { v: 1 } }).verdict).toBe('blocked');
      }),
      { numRuns: 1000 },
    );
  });

  test('costs the same after ten thousand calls as after ten', () => {
    const rules = Array.from({ length: 50 }, (_, i) => [
      { type: 'before', first: `t${i}`, then: 't1' },
      { type: 'never_after', trigger: `u${i}`, forbidden: 't2' },
      { type: 'sequence', tools: [`t${i % 5}`, `v${i}`] },
      { type: 'max_calls', tool: `t${i}`, max: 1_000_000 },
    ])
      .flat()
      .slice(0, 50);
    const live = new LiveJudge(policyOf({ rules }));
    const time = (calls: number): number => {
      const started = performance.now();
      for (let i = 0; i < calls; i++) live.judge({ name: `t${i % 7}`, args: { v: i } });
      return (performance.now() - started) / calls;
    };
    time(500);
    const early = Math.min(time(250), time(250), time(250));
    time(10_000);
    const late = Math.min(time(250), time(250), time(250));
    // A verdict from scratch would take a thousand times as long by then.
    expect(late).toBeLessThan(early * 5 + 0.02);
  });

  test.each([
    [{ type: 'require', tool: 'a' }, 'a to be called'],
    [{ type: 'after', trigger: 'a', then: 'b' }, 'b to follow a'],
    [{ type: 'eventually', tool: 'a', within: 2 }, 'a within the first 2 calls'],
    [{ type: 'count', tool: 'a', min: 1, max: 2 }, 'a to be called at least once'],
    [{ type: 'sequence', tools: ['a', 'b'] }, 'b to be reached once a was called'],
  ])('what %j asks at the end cannot be enforced by refusing', (written, expected) => {
    expect(openRules(policyOf({ rules: [written] }))).toMatchObject([{ expected }]);
  });

  test.each([
    { type: 'before', first: 'a', then: 'b' },
    { type: 'max_calls', tool: 'a', max: 2 },
    { type: 'never_after', trigger: 'a', forbidden: 'b' },
  ])('%j is enforced by refusing alone', (written) => {
    expect(openRules(policyOf({ rules: [written] }))).toEqual([]);
  });
});
