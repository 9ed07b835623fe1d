import { parseSpec } from '@agentci/spec';
import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { evaluateQuery } from './evaluate-query.ts';
import { runSuite } from './run-suite.ts';

const POLICY =
  '{tools: {pay: {arguments: {amount: {type: number, max: 100}}}}, rules: [{type: before, first: auth, then: pay}], blocklist: [rm]}';
const call = (name: string, args?: object) => ({ name, ...(args === undefined ? {} : { args }) });

async function judge(block: string, form: object) {
  const { suite, diagnostics } = parseSpec(`agent: a\nqueries:\n  - query: q\n    ${block}\n`, {
    file: 's.yaml',
  });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return evaluateQuery({
    query: suite!.queries[0]!,
    trace: simpleTrace({ query: 'q', answer: 'ok', ...form }),
  });
}
const statuses = ({ path }: Awaited<ReturnType<typeof judge>>) =>
  Object.fromEntries(path.checks.map(({ id, status, skip_reason }) => [id, skip_reason ?? status]));

describe('a policy in a spec', () => {
  test.each([
    [
      'kept',
      { tool_calls: [call('auth', {}), call('pay', { amount: 5 })] },
      'pass',
      'pass',
      'pass',
    ],
    [
      'broken',
      { tool_calls: [call('pay', { amount: 500 }), call('rm', {})] },
      'fail',
      'fail',
      'fail',
    ],
    ['not exercised', { tool_calls: [call('x', {})] }, 'not_exercised', 'not_exercised', 'pass'],
    ['tool calls not captured', {}, 'error', 'error', 'error'],
    [
      'arguments not captured',
      { tool_calls: [call('auth'), call('pay')] },
      'error',
      'pass',
      'pass',
    ],
    [
      'cut off',
      { status: 'incomplete', tool_calls: [call('auth', {}), call('pay', { amount: 5 })] },
      'error',
      'pass',
      'error',
    ],
    [
      'cut off after a violation',
      { status: 'incomplete', tool_calls: [call('pay', { amount: 500 })] },
      'fail',
      'fail',
      'error',
    ],
  ])('%s', async (_, form, args, rules, blocklist) => {
    expect(statuses(await judge(`policy: ${POLICY}`, form))).toEqual({
      'policy.args_valid': args,
      'policy.sequence_valid': rules,
      'policy.tool_blocklist': blocklist,
    });
  });

  test('a violation points at the line of the policy and at the call', async () => {
    const { path } = await judge('policy: {tools: {pay: {arguments: {amount: {max: 100}}}}}', {
      tool_calls: [call('auth'), call('pay', { amount: 500 })],
    });
    expect(path.checks).toMatchObject([
      {
        id: 'policy.args_valid',
        status: 'fail',
        value: 1,
        limit: 0,
        location: { file: 's.yaml', line: 4, column: 49 },
        evidence: [{ call: 2, step: 2 }],
      },
    ]);
    expect(path.details.policy).toMatchObject([
      { metric: 'args_valid', violations: [{ constraint: 'max: 100', value: 500 }] },
    ]);
  });

  test('each check has the column of the rule that forbids', async () => {
    const block = `policy: ${POLICY}`;
    const { path } = await judge(block, {
      tool_calls: [call('pay', { amount: 500 }), call('rm', {})],
    });
    const at = (text: string) => `    ${block}`.indexOf(text) + 1;
    expect(path.checks.map(({ location }) => location?.column)).toEqual([
      at('max:'),
      at('{type: before'),
      at('rm]'),
    ]);
  });

  test('on_violation: warn softens, log is evidence only', async () => {
    const of = (mode: string) =>
      judge(`policy: {tools: {pay: {arguments: {amount: {max: 1, on_violation: ${mode}}}}}}`, {
        tool_calls: [call('pay', { amount: 2 })],
      });
    expect((await of('warn')).status).toBe('warn');
    const logged = await of('log');
    expect(logged.status).toBe('pass');
    expect(logged.path.checks[0]?.evidence[0]?.text).toMatch(/^logged: /);
  });

  test('a policy that was never read is an error, not a pass', async () => {
    expect(await judge('policy: missing.yaml', { tool_calls: [] })).toMatchObject({
      status: 'error',
    });
  });
});

describe('path.rules', () => {
  const rules =
    'path: {rules: [{type: before, first: auth, then: write}, {type: blocklist, tools: [rm]}]}';

  test('asm-vac-2: a rule that never came up hides nothing', async () => {
    const row = vectors.find(({ id }) => id === 'asm-vac-2')!.input as {
      spec: object;
      used_tools: string[];
    };
    const result = await judge(`path: ${JSON.stringify(row.spec)}`, {
      tool_calls: row.used_tools.map((name) => call(name)),
    });
    expect(result.status).toBe('warn');
    expect(statuses(result)).toEqual({
      'path.rules': 'not_exercised',
      'path.expected_tool_sequence': 'warn',
    });
  });

  test('asm-malformed: an unreadable trace is an error', async () => {
    const row = vectors.find(({ id }) => id === 'asm-malformed')!.input as {
      rules: object[];
      trace: object;
    };
    const { suite } = parseSpec(
      JSON.stringify({ agent: 'a', queries: [{ query: 'q', path: { rules: row.rules } }] }),
    );
    const run = await runSuite({ suite: suite!, traces: Buffer.from(JSON.stringify(row.trace)) });
    expect(run.results).toMatchObject([{ status: 'error' }]);
  });

  test('the violated rule is shown at its own line', async () => {
    const block =
      'path:\n      rules:\n        - {type: require, tool: write}\n        - {type: before, first: auth, then: write}';
    const { path } = await judge(block, { tool_calls: [call('write')] });
    expect(path.checks).toMatchObject([
      { id: 'path.rules', status: 'fail', location: { line: 7 }, value: 1, limit: 2 },
    ]);
  });

  test.each([
    ['calls not captured', {}, 'error'],
    ['held', { tool_calls: [call('auth'), call('write')] }, 'pass'],
    ['violated', { tool_calls: [call('write')] }, 'fail'],
  ])('%s', async (_, form, status) => {
    expect((await judge(rules, form)).status).toBe(status);
  });

  test('calls missing in between: only certain findings count', async () => {
    const { suite } = parseSpec(`agent: a\nqueries:\n  - query: q\n    ${rules}\n`);
    const of = async (...names: string[]) => {
      const trace = simpleTrace({
        query: 'q',
        answer: '',
        tool_calls: names.map((name) => call(name)),
      });
      trace.captured.toolCalls = 'partial';
      return (await evaluateQuery({ query: suite!.queries[0]!, trace })).status;
    };
    expect(await of('write')).toBe('error');
    expect(await of('rm')).toBe('fail');
    expect(await of('auth', 'write')).toBe('error');
  });
});

describe('a suite over all traces', () => {
  const suiteOf = (...tests: string[]) => {
    const { suite, diagnostics } = parseSpec(
      `version: "1"\nsuite: s\ntests:\n${tests.map((each) => `  - ${each}\n`).join('')}`,
      { file: 'suite.yaml' },
    );
    expect(diagnostics).toEqual([]);
    return suite!;
  };
  const trace = (id: string, ...names: string[]) =>
    simpleTrace({ id, answer: '', tool_calls: names.map((name) => call(name, {})) });
  const block = '{id: block, metric: tool_blocklist, blocklist: [rm]}';
  const order =
    '{id: order, metric: sequence_valid, rules: [{type: before, first: auth, then: write}]}';

  test('one result per test, with every violation of every trace counted', async () => {
    const run = await runSuite({
      suite: suiteOf(block, order),
      traces: [trace('a', 'rm', 'rm'), trace('b', 'auth', 'write'), trace('c', 'rm')],
    });
    expect(run.results.map(({ id, status }) => [id, status])).toEqual([
      ['block', 'fail'],
      ['order', 'pass'],
    ]);
    expect(run.results[0]?.path.checks[0]).toMatchObject({
      id: 'policy.tool_blocklist',
      value: 3,
      location: { file: 'suite.yaml', line: 4, column: 53 },
    });
    expect(run.results[0]?.path.details.policy).toMatchObject([
      { metric: 'tool_blocklist', calls_found: 3, tools: ['rm'] },
    ]);
    expect(run.summary).toMatchObject({ total: 2, failed: 1, passed: 1, exit_code: 1 });
  });

  test('a rule written in the suite has its column', async () => {
    const { results } = await runSuite({
      suite: suiteOf(block, order),
      traces: [trace('a', 'write')],
    });
    expect(results[1]?.path.checks[0]?.location).toMatchObject({
      file: 'suite.yaml',
      column: `  - ${order}`.indexOf('{type') + 1,
    });
  });

  test.each([
    ['no trace at all', [], 'error', 2],
    ['a trace without captured calls', [simpleTrace({ id: 'x', answer: 'hi' })], 'error', 2],
    ['a rule that never came up', [trace('a', 'x')], 'skip', 0],
    [
      'a failed run',
      [simpleTrace({ id: 'x', status: 'error', tool_calls: [call('auth'), call('write')] })],
      'error',
      2,
    ],
    [
      'a failed run that broke the rule before',
      [simpleTrace({ id: 'x', status: 'error', tool_calls: [call('write')] })],
      'fail',
      1,
    ],
  ])('%s', async (_, traces, status, exit) => {
    const run = await runSuite({ suite: suiteOf(order), traces });
    expect(run.results).toMatchObject([{ status }]);
    expect(run.summary.exit_code).toBe(exit);
  });

  test('a record that cannot be read makes every test unknown that did not fail', async () => {
    const text = '{"type":"tool_call","tool":"rm","arguments":{}}\n{"type": broken\n';
    const run = await runSuite({ suite: suiteOf(block, order), traces: Buffer.from(text) });
    expect(run.results.map(({ status }) => status)).toEqual(['fail', 'error']);
    expect(run.checks[0]).toMatchObject({ id: 'traces.readable', status: 'error' });
  });
});
