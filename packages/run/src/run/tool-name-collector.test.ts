import { join } from 'node:path';
import { loadSpec, parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { runSuite } from './run-suite.ts';

const run = (checks: string, calls: readonly string[], rest: object = {}) => {
  const { suite, diagnostics } = parseSpec(
    `version: 1\nagent: a\nqueries: [{id: q, query: q, ${checks}}]`,
    {
      file: 'spec.yaml',
    },
  );
  if (suite === undefined) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  const trace = {
    ...simpleTrace({ query: 'q', answer: 'x', tool_calls: calls.map((name) => ({ name })) }),
    ...rest,
  };
  return runSuite({ suite, traces: [trace], strict: true });
};
const RULE = 'path: {rules: [{type: before, first: verify, then: refnud}]}';

describe('tools that rules name and nothing knows', () => {
  test.each([
    {
      what: 'a sequence rule',
      checks: RULE,
      calls: ['verify', 'refund'],
      says: '"refnud" (did you mean "refund"?)',
      code: 2,
    },
    {
      what: 'a rule of a policy',
      checks: 'policy: {sequences: [{type: before, first: verify, then: refnud}]}',
      calls: ['verify', 'refund'],
      says: '"refnud" (did you mean "refund"?)',
      code: 2,
    },
    {
      what: 'arguments of a policy',
      checks: 'policy: {tools: {refnud: {arguments: {amount: {max: 10}}}}}',
      calls: ['refund'],
      says: '"refnud" (did you mean "refund"?)',
      code: 2,
    },
    {
      what: 'a tool with no name near it',
      checks: 'path: {rules: [{type: before, first: verify, then: launch}]}',
      calls: ['verify'],
      says: '"launch"',
      code: 2,
    },
    {
      what: 'one rule of two that decides',
      checks:
        'path: {rules: [{type: before, first: verify, then: refnud}, {type: max_calls, tool: verify, max: 3}]}',
      calls: ['verify'],
      says: '"refnud"',
      code: 2,
    },
    {
      what: 'a forbidden tool with a near name',
      checks: 'path: {forbidden_tools: [delte_user]}',
      calls: ['get_user', 'read'],
      says: '',
      code: 0,
    },
    {
      what: 'a forbidden tool that is a slip',
      checks: 'path: {forbidden_tools: [delte_account]}',
      calls: ['delete_account'],
      says: '"delte_account" (did you mean "delete_account"?), which is forbidden',
      code: 2,
    },
    {
      what: 'a limit on a tool that is a slip, which it keeps',
      checks: 'path: {rules: [{type: max_calls, tool: serch, max: 1}]}',
      calls: ['search', 'search'],
      says: '"serch" (did you mean "search"?)',
      code: 2,
    },
    {
      what: 'a policy that names more tools than were used',
      checks:
        'policy: {sequences: [{type: max_calls, tool: lookup_order, max: 3}], tools: {refund: {arguments: {amount: {max: 10}}}}}',
      calls: ['lookup_order'],
      says: '"refund"',
      code: 0,
    },
  ])('$what: exit $code under --strict', async ({ checks, calls, says, code }) => {
    const { notices, summary } = await run(checks, calls);
    if (says === '') expect(notices).toEqual([]);
    else expect(notices.join('\n')).toContain(says);
    expect(summary.exit_code).toBe(code);
  });

  test('a tool list that has it is knowledge: not exercised, and nothing to warn of', async () => {
    const { notices, summary } = await run(RULE, ['verify'], { tools: [{ name: 'refnud' }] });
    expect(notices).toEqual([]);
    expect(summary.exit_code).toBe(0);
  });

  test('without --strict it is a note, and in the result', async () => {
    const { suite } = parseSpec(`version: 1\nagent: a\nqueries: [{id: q, query: q, ${RULE}}]`, {
      file: 's.yaml',
    });
    const traces = [simpleTrace({ query: 'q', answer: 'x', tool_calls: [{ name: 'refund' }] })];
    const result = await runSuite({ suite: suite!, traces });
    expect(result.summary.exit_code).toBe(0);
    expect(result.checks).toMatchObject([
      { id: 'rules.unknown_tools', status: 'skip', value: ['verify', 'refnud'] },
    ]);
  });
});

test('a name with invisible characters is compared as it looks, with a warning', async () => {
  const { results, summary } = await run('path: {forbidden_tools: [rm]}', ['r\u200bm']);
  expect(summary.exit_code).toBe(1);
  expect(results[0]!.warnings).toEqual([
    {
      code: 'TOOL_NAME_CHANGED',
      message: 'the tool "r\\u{200B}m" shows as "rm" and is compared as that',
    },
  ]);
});

test('the tests of an Assay suite are looked at too', async () => {
  const dir = tempDir({
    'suite.yaml': `version: "1"
suite: s
tests:
  - {id: order, metric: sequence_valid, policy: ./p.yaml}
`,
    'p.yaml': 'version: "1"\nsequences: [{type: before, first: verify, then: refnud}]\n',
  });
  const { suite, diagnostics } = await loadSpec(join(dir, 'suite.yaml'));
  expect(diagnostics).toEqual([]);
  const traces = [
    simpleTrace({ query: 'q', answer: 'x', tool_calls: [{ name: 'verify' }, { name: 'refund' }] }),
  ];
  const { notices, summary } = await runSuite({ suite, traces, strict: true });
  expect(notices.join()).toContain('"refnud" (did you mean "refund"?)');
  expect(summary.exit_code).toBe(2);
});
