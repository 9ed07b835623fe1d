import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PolicyCoverage } from './coverage.ts';
import { evaluateArguments } from './evaluate-arguments.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { explainCalls } from './explain.ts';
import { explainHtml, explainMarkdown, explainTerminal } from './explain-text.ts';
import { PolicyLearner } from './generate.ts';
import { parsePolicy } from './parse-policy.ts';

const rows = (kind: string) =>
  (
    vectors as unknown as {
      id: string;
      kind: string;
      input: Record<string, unknown>;
      expected: Record<string, unknown>;
    }[]
  ).filter((row) => row.kind === kind);
const policyOf = (value: object) => {
  const { policy, diagnostics } = parsePolicy(JSON.stringify(value), { file: 'p.yaml' });
  expect(diagnostics).toEqual([]);
  return policy!;
};

describe('explain', () => {
  test.each(rows('explain'))('$id', ({ input, expected }) => {
    const report = explainCalls({
      policy: policyOf({ rules: input.rules }),
      calls: input.calls as string[],
    });
    expect(report).toMatchObject(expected);
  });

  test('a missing call blocks no call, and is reported at the end', () => {
    const report = explainCalls({
      policy: policyOf({ rules: [{ type: 'require', tool: 'auth' }] }),
      calls: ['x'],
    });
    expect(report).toMatchObject({
      allowed: 1,
      blocked: 0,
      first_block_index: null,
      at_end: [{ rule: 'require:auth' }],
    });
  });

  test.each([
    [
      'a tool whose arguments matter',
      { tools: { pay: { arguments: { v: { max: 1 } } } } },
      ['pay', 'x'],
    ],
    [
      'a rule about arguments',
      { rules: [{ type: 'require', tool: { tool: 'pay', args_match: { v: '^1$' } } }] },
      ['pay', 'x'],
    ],
  ])('%s: a call without captured arguments is unknown', (_, policy, calls) => {
    expect(explainCalls({ policy: policyOf(policy), calls })).toMatchObject({
      allowed: 1,
      blocked: 0,
      unknown: 1,
      at_end: [],
      calls: [
        { verdict: 'unknown', by: [{ reason: 'could not tell: arguments were not captured' }] },
        {},
      ],
    });
  });

  test('a tool denied for any arguments is blocked, not unknown', () => {
    const policy = policyOf({
      tools: { pay: { arguments: { v: { max: 1 } } } },
      blocklist: ['pay'],
    });
    expect(explainCalls({ policy, calls: ['pay'] })).toMatchObject({ blocked: 1, unknown: 0 });
  });

  test('calls that were not captured may have kept a rule, but undo no forbidden call', () => {
    const policy = policyOf({
      rules: [{ type: 'before', first: 'auth', then: 'pay' }],
      blocklist: ['rm'],
    });
    expect(explainCalls({ policy, calls: ['pay', 'rm'], captured: 'partial' })).toMatchObject({
      unknown: 1,
      blocked: 1,
      not_known: 'not all tool calls were captured',
    });
  });

  test('arguments, denied tools and blocklists each name their line', () => {
    const { policy } = parsePolicy(
      'tools:\n  deny: [rm]\n  pay:\n    arguments:\n      v: {max: 1}\nblocklist: [adm*]\n',
      { file: 'p.yaml' },
    );
    const calls = [{ tool: 'pay', args: { v: 2 } }, 'rm', 'admin', { tool: 'pay', args: { v: 1 } }];
    const { calls: timeline } = explainCalls({ policy: policy!, calls });
    expect(
      timeline.map(({ verdict, by }) => [verdict, by[0]?.policy_line, by[0]?.policy_column]),
    ).toEqual([
      ['blocked', 5, 11],
      ['blocked', 2, 10],
      ['blocked', 6, 13],
      ['allowed', undefined, undefined],
    ]);
  });

  test.each([
    ['terminal', explainTerminal],
    ['markdown', explainMarkdown],
    ['html', explainHtml],
  ])('%s makes hostile names inert', (_, render) => {
    const hostile = '\u001b[31m<script>|`\n::error::x';
    const report = explainCalls({
      policy: policyOf({ blocklist: ['*'] }),
      calls: [{ tool: hostile, args: { a: hostile } }],
      trace: hostile,
    });
    const text = render([report]);
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\n::error');
    if (render !== explainTerminal) expect(text).not.toContain('<script>');
  });
});

describe('coverage', () => {
  test.each(rows('coverage'))('$id', ({ input, expected }) => {
    const coverage = new PolicyCoverage(policyOf(input.policy as object));
    coverage.add(input.tools_called as string[]);
    const report = coverage.report(input.threshold as number);
    expect(report).toMatchObject(expected);
    expect(report.rules.exercised).toEqual(input.rules_exercised);
  });

  test('tools without any rule are unexpected, those of a rule are not', () => {
    const coverage = new PolicyCoverage(policyOf({ rules: [{ type: 'require', tool: 'a' }] }));
    coverage.add(['a', 'b']);
    expect(coverage.report()).toMatchObject({
      unexpected_tools: ['b'],
      tool_pct: null,
      rule_pct: 100,
      overall_pct: 100,
    });
  });
});

describe('generate', () => {
  const learn = (...traces: (string | object)[][]) => {
    const learner = new PolicyLearner();
    for (const calls of traces) learner.add(calls as string[]);
    return learner.yaml();
  };

  test('types, ranges, choices, required arguments and order, with counts', () => {
    const run = (status: string, amount: number) => [
      { tool: 'auth', args: { user: `u${amount}` } },
      { tool: 'pay', args: { amount, status, tags: ['x'], ...(amount > 2 ? { note: 'n' } : {}) } },
    ];
    expect(
      learn(run('new', 1), run('paid', 2.5), run('new', 3), run('paid', 4)),
    ).toMatchInlineSnapshot(`
      "# A starter policy learned from 4 traces and 8 tool calls.
      # Read it before you rely on it: a range that was seen is not always the range that is right.
      tools:
        auth: # 4 calls
          arguments:
            user: # in 4 of 4 calls
              type: string
              required: true
        pay: # 4 calls
          arguments:
            amount: # in 4 of 4 calls
              type: number
              required: true
              min: 1
              max: 4
            note: # in 3 of 4 calls
              type: string
              enum: ["n"] # 1 value in 3 calls
            status: # in 4 of 4 calls
              type: string
              required: true
              enum: [new, paid] # 2 values in 4 calls
            tags: # in 4 of 4 calls
              type: array
              required: true
              items: {type: string}

      sequences:
        # so in all 4 traces with pay
        - {type: before, first: auth, then: pay}
      "
    `);
  });

  test('a learned policy accepts every trace it came from', () => {
    // A call without a name leaves every rule undecided.
    const named = fc.string().filter((text) => text.trim() !== '' && text !== 'unknown');
    const name = fc.oneof(
      fc.constantFrom('a', 'b', 'allow', 'deny', 'x*', '__proto__', 'null', '- y'),
      named,
    );
    const args = fc.dictionary(
      fc.oneof(fc.constantFrom('k', '__proto__', '#'), fc.string()),
      fc.jsonValue(),
      {
        maxKeys: 3,
      },
    );
    const trace = fc.array(fc.record({ tool: name, args }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(trace, { minLength: 1, maxLength: 5 }), (traces) => {
        const { policy, diagnostics } = parsePolicy(learn(...traces), { strict: true });
        expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
        for (const calls of traces) {
          expect(evaluateArguments({ calls, policy: policy!, strict: true }).violations).toEqual(
            [],
          );
          if (policy!.rules.length > 0)
            expect(evaluateRules({ calls, rules: policy!.rules }).status).toBe('pass');
        }
      }),
      { numRuns: 300 },
    );
  });
});
