import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const line = (tool: string, args: object = {}) =>
  `${JSON.stringify({ type: 'tool_call', tool, arguments: args })}\n`;
const POLICY =
  'tools:\n  apply_discount:\n    arguments:\n      percent:\n        type: number\n        min: 0\n        max: 30\n';

describe('the examples of the Assay documents', () => {
  test.each([
    [
      'args_valid',
      'tests:\n  - id: check_all_args\n    metric: args_valid\n    policy: policies/customer-service.yaml\n',
      line('apply_discount', { percent: 50 }),
      [
        '❌ FAIL: args_valid',
        'Tool: apply_discount',
        'Argument: percent = 50',
        'Violation: Value exceeds maximum (max: 30)',
      ],
    ],
    [
      'sequence_valid',
      'tests:\n  - id: flow\n    metric: sequence_valid\n    rules:\n      - type: require\n        tool: authenticate\n      - type: before\n        first: authenticate\n        then: get_patient_record\n',
      line('get_patient_record'),
      [
        '❌ FAIL: sequence_valid',
        'Rule: require',
        'Expected: authenticate to be called',
        'Actual: authenticate was never called',
        'Rule: before',
        'Expected: authenticate before get_patient_record',
        'Actual: get_patient_record called without prior authenticate',
      ],
    ],
    [
      'tool_blocklist',
      'tests:\n  - id: no_dangerous_tools\n    metric: tool_blocklist\n    blocklist:\n      - admin_delete\n',
      line('admin_delete', { id: '123' }),
      [
        '❌ FAIL: tool_blocklist',
        'Violation: Blocked tool called',
        'Tool: admin_delete',
        "Policy: Blocklist includes 'admin_delete'",
        'Calls found: 1',
      ],
    ],
  ])('%s prints what they print', async (_, suite, trace, printed) => {
    const cwd = tempDir({
      'mcp-eval.yaml': suite,
      'policies/customer-service.yaml': POLICY,
      'trace.jsonl': trace,
    });
    const { code, stdout } = await cli(['test', '-c', 'mcp-eval.yaml', '--traces', 'trace.jsonl'], {
      cwd,
    });
    expect(code).toBe(1);
    const lines = stdout.split('\n').map((each) => each.trim());
    const places = printed.map((each) => lines.indexOf(each));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect([...places].sort((a, b) => a - b)).toEqual(places);
  });

  test('the combined suite runs and writes the reports it asks for', async () => {
    const suite = `# mcp-eval.yaml
version: "1"
suite: customer-service-agent

tests:
  # Validate all tool arguments
  - id: args_valid
    metric: args_valid
    policy: policies/customer.yaml

  # Enforce authentication flow
  - id: auth_flow
    metric: sequence_valid
    rules:
      - type: require
        tool: authenticate_user
      - type: before
        first: authenticate_user
        then: [get_customer, update_customer]

  # Block dangerous operations
  - id: no_destructive
    metric: tool_blocklist
    blocklist:
      - delete_customer
      - purge_data
      - admin_*

output:
  format: [sarif, junit]
`;
    const cwd = tempDir({
      'mcp-eval.yaml': suite,
      'policies/customer.yaml': POLICY,
      'trace.jsonl': line('authenticate_user') + line('get_customer'),
    });
    const { code, stdout } = await cli(['test', '-c', 'mcp-eval.yaml', '--traces', 'trace.jsonl'], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('auth_flow');
    for (const file of ['results.sarif', 'results.xml'])
      expect(existsSync(join(cwd, '.agentci/reports', file))).toBe(true);
  });

  test('the unquoted star gets the quoting hint', async () => {
    const cwd = tempDir({
      's.yaml':
        'tests:\n  - id: a\n    metric: tool_blocklist\n    blocklist:\n      - *_dangerous\n',
      't.jsonl': line('x'),
    });
    const { code, stderr } = await cli(['test', '-c', 's.yaml', '--traces', 't.jsonl'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('s.yaml:5:9 YAML_SYNTAX');
    expect(stderr).toContain('"*_dangerous"');
  });

  test('without traces it is not green', async () => {
    const cwd = tempDir({ 's.yaml': 'tests: [{id: a, metric: tool_blocklist, blocklist: [x]}]' });
    expect((await cli(['test', '-c', 's.yaml'], { cwd })).code).toBe(2);
  });
});

describe('custom metrics', () => {
  const suite = (metric: string, more = '') =>
    `tests:\n  - {id: own, metric: ${metric}, config: {limit: 1}${more}}\n`;
  const run = async (module: string, more = '', name = 'mine.mjs') => {
    const cwd = tempDir({
      's.yaml': suite(`./metrics/${name}`, more),
      [`metrics/${name}`]: module,
      't.jsonl': line('a') + line('b'),
    });
    const outcome = await cli(['test', '-c', 's.yaml', '--traces', 't.jsonl', '-f', 'json'], {
      cwd,
    });
    return { code: outcome.code, check: JSON.parse(outcome.stdout).results[0].path.checks[0] };
  };

  test('a TypeScript module gets the trace and its config', async () => {
    const module = `export default (trace: { steps: unknown[] }, config: { limit: number }) => trace.steps.length > config.limit
      ? { status: 'fail', violations: [{ tool: 'b', argument: null, value: null, constraint: 'limit: 1', policy_line: null }] }
      : { status: 'pass', violations: [] };`;
    const { code, check } = await run(module, '', 'mine.ts');
    expect(code).toBe(1);
    expect(check).toMatchObject({ id: 'policy.mine', status: 'fail', value: 1 });
  });

  test.each([
    ['never returns', 'export default () => { for (;;); }', ', timeout_ms: 200'],
    ['throws', 'export default () => { throw new Error("no"); }', ''],
    ['gives no verdict', 'export default () => true', ''],
    ['contradicts itself', 'export default () => ({ status: "pass", violations: [{}] })', ''],
    ['is no function', 'export default 5', ''],
    ['ends the process', 'export default () => process.exit(0)', ''],
  ])('one that %s is an error, exit 2', async (_, module, more) => {
    const { code, check } = await run(module, more);
    expect(code).toBe(2);
    expect(check.status).toBe('error');
  });
});

describe('agentci policy', () => {
  const files = {
    'p.yaml': POLICY,
    't.jsonl': line('apply_discount', { percent: 50 }) + line('other'),
  };

  test('explain shows the call and the line that blocks it, in four forms', async () => {
    const cwd = tempDir(files);
    const args = ['policy', 'explain', '-p', 'p.yaml', '--traces', 't.jsonl'];
    const terminal = await cli(args, { cwd });
    expect(terminal.code).toBe(1);
    expect(terminal.stdout).toMatch(/✗ +1 +apply_discount/);
    expect(terminal.stdout).toContain('p.yaml:7');
    const { traces } = JSON.parse((await cli([...args, '--json'], { cwd })).stdout);
    expect(traces).toMatchObject([{ allowed: 1, blocked: 1, first_block_index: 0 }]);
    expect((await cli([...args, '-f', 'markdown'], { cwd })).stdout).toContain('| call | tool |');
    expect((await cli([...args, '-f', 'html'], { cwd })).stdout).toMatch(/^<!doctype html>/);
  });

  test.each([
    [
      'arguments left out',
      [{ tool_calls: [{ name: 'apply_discount' }] }],
      2,
      'arguments were not captured',
    ],
    [
      'arguments null',
      [{ tool_calls: [{ name: 'apply_discount', args: null }] }],
      2,
      'arguments were not captured',
    ],
    ['no tool calls captured', [{}], 2, 'could not tell: tool calls were not captured'],
    [
      'something blocked beside it',
      [{}, { tool_calls: [{ name: 'apply_discount', args: { percent: 50 } }] }],
      1,
      'could not tell: tool calls were not captured',
    ],
  ])('explain does not allow what it cannot tell: %s', async (_, traces, code, text) => {
    const recordings = traces
      .map((trace) => `${JSON.stringify({ query: 'hi', answer: 'x', ...trace })}\n`)
      .join('');
    const cwd = tempDir({ ...files, 't.jsonl': recordings });
    const outcome = await cli(['policy', 'explain', '-p', 'p.yaml', '--traces', 't.jsonl'], {
      cwd,
    });
    expect(outcome.stdout).toContain(text);
    expect(outcome.code).toBe(code);
  });

  test.each([
    ['100', 0],
    ['50', 0],
  ])('coverage of at least %s exits %i', async (percent, code) => {
    const args = [
      'policy',
      'coverage',
      '-p',
      'p.yaml',
      '--traces',
      't.jsonl',
      '--json',
      '--min-coverage',
      percent,
    ];
    const outcome = await cli(args, { cwd: tempDir(files) });
    expect(outcome.code).toBe(code);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      overall_pct: 100,
      unexpected_tools: ['other'],
    });
  });

  test('coverage that is too low exits 1 and names the gaps', async () => {
    const cwd = tempDir({ ...files, 'p.yaml': `${POLICY}  deny: [drop]\n` });
    const outcome = await cli(
      ['policy', 'coverage', '-p', 'p.yaml', '--traces', 't.jsonl', '--min-coverage', '80'],
      {
        cwd,
      },
    );
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toContain('denied tools never tried: drop');
  });

  test('generate writes a policy that its traces keep, and overwrites nothing', async () => {
    const cwd = tempDir(files);
    const args = ['policy', 'generate', '--traces', 't.jsonl', '-o', 'new.yaml'];
    expect((await cli(args, { cwd })).code).toBe(0);
    expect(
      (
        await cli(['policy', 'explain', '-p', 'new.yaml', '--traces', 't.jsonl', '--strict'], {
          cwd,
        })
      ).code,
    ).toBe(0);
    const before = readFileSync(join(cwd, 'new.yaml'), 'utf8');
    expect((await cli(args, { cwd })).code).toBe(2);
    expect(readFileSync(join(cwd, 'new.yaml'), 'utf8')).toBe(before);
  });

  test.each([
    [
      'an action it does not know',
      ['policy', 'explan', '-p', 'p.yaml', '--traces', 't.jsonl'],
      'explain',
    ],
    ['no policy', ['policy', 'explain', '--traces', 't.jsonl'], '--policy'],
    ['a file that does not exist', ['policy', 'explain', 'audit.jsonl'], '"audit.jsonl"'],
    [
      'a bad policy',
      ['policy', 'explain', '-p', 'bad.yaml', '--traces', 't.jsonl'],
      'bad.yaml:1:29 POLICY_UNKNOWN_KEY',
    ],
    [
      'a trace without calls',
      ['policy', 'coverage', '-p', 'p.yaml', '--traces', 'text.jsonl'],
      'TRACE_NO_CALLS',
    ],
  ])('%s exits 2 with a message', async (_, args, text) => {
    const cwd = tempDir({
      ...files,
      'bad.yaml': 'tools: {t: {arguments: {v: {maxx: 1}}}}',
      'text.jsonl': '{"prompt":"p","response":"r"}\n',
    });
    const { code, stderr } = await cli(args, { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(text);
  });
});

test('a spec with a policy file: the annotation is on the line of the policy', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml': 'agent: a\npolicy: p.yaml\nqueries: [{id: q, query: q}]\n',
    'p.yaml': POLICY,
    't.json': {
      id: 'q',
      answer: 'ok',
      tool_calls: [{ name: 'apply_discount', args: { percent: 50 } }],
    },
  });
  const { code, stdout } = await cli(['test', '--traces', 't.json', '-f', 'github'], { cwd });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^::error file=p\.yaml,line=7,col=9,/m);
});

describe('policy test', () => {
  const RULE = 'rules:\n  - {type: expr, id: small, tool: refund, expr: "args.amount <= 100"}\n';
  const example = (amount: string, rest: string): string =>
    `  - {calls: [{tool: refund, args: {${amount}}}], ${rest}}\n`;
  test.each([
    [
      'all examples come out as they say',
      'amount: 100',
      'expect: allow',
      0,
      'pass  example 1 (policy.yaml:4)',
    ],
    [
      'one is allowed that should be denied',
      'amount: 100',
      'expect: deny',
      1,
      'expected deny, got allow',
    ],
    [
      'one is denied by another rule',
      'amount: 101',
      'expect: deny, rule: other',
      1,
      'expected deny by other, got deny',
    ],
    ['the policy cannot tell', '', 'expect: allow', 2, 'got could not tell'],
  ])('when %s', async (_, amount, rest, wanted, printed) => {
    const cwd = tempDir({ 'policy.yaml': `${RULE}examples:\n${example(amount, rest)}` });
    const { code, stdout } = await cli(['policy', 'test', 'policy.yaml'], { cwd });
    expect([code, stdout]).toEqual([wanted, expect.stringContaining(printed)]);
  });

  test('a policy without examples was not tested', async () => {
    const cwd = tempDir({ 'policy.yaml': RULE });
    const { code, stderr } = await cli(['policy', 'test', 'policy.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('NOTHING_FOUND');
  });

  test('coverage counts the examples, with or without traces', async () => {
    const cwd = tempDir({
      'policy.yaml': `${RULE}examples:\n${example('amount: 1', 'expect: allow')}`,
    });
    const { code, stdout } = await cli(['policy', 'coverage', '-p', 'policy.yaml', '--json'], {
      cwd,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      traces: 0,
      examples: 1,
      rules: { exercised: ['small'] },
    });
  });

  test('an expression in a policy decides, and a mistake in it has its position', async () => {
    const spec = 'version: 1\nagent: a\nqueries:\n  - query: q\n    policy: policy.yaml\n';
    const trace = `${JSON.stringify({ query: 'q', answer: 'ok', tool_calls: [{ name: 'refund', args: { amount: 500 } }] })}\n`;
    const cwd = tempDir({ 'agentci_spec.yaml': spec, 'policy.yaml': RULE, 'traces.jsonl': trace });
    const run = await cli(['test', '--traces', 'traces.jsonl'], { cwd });
    expect([run.code, run.stdout]).toEqual([1, expect.stringContaining('small')]);
    const bad = tempDir({ 'agentci_spec.yaml': spec, 'policy.yaml': RULE.replace('args', 'arg') });
    const told = await cli(['validate'], { cwd: bad });
    expect([told.code, `${told.stdout}${told.stderr}`]).toEqual([
      1,
      expect.stringContaining('policy.yaml:2:50 POLICY_BAD_EXPR'),
    ]);
  });
});

test('an Assay suite with expectations is judged on the recording of its prompt', async () => {
  const suite =
    'version: 1\nsuite: s\nmodel: trace\ntests:\n  - id: t\n    input: {prompt: Say hello}\n    expected: {type: must_contain, must_contain: [Hello]}\n';
  const trace = (answer: string) => `${JSON.stringify({ query: 'Say hello', answer })}\n`;
  const cwd = tempDir({
    'eval.yaml': suite,
    'good.jsonl': trace('Hello you'),
    'bad.jsonl': trace('hello you'),
  });
  expect((await cli(['test', '-c', 'eval.yaml', '--traces', 'good.jsonl'], { cwd })).code).toBe(0);
  expect((await cli(['test', '-c', 'eval.yaml', '--traces', 'bad.jsonl'], { cwd })).code).toBe(1);
});
