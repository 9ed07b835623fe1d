import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { parseSpec } from './parse-spec.ts';

const POLICY =
  'tools:\n  pay:\n    arguments:\n      amount: {type: number, max: 100}\nsequences:\n  - {type: require, tool: auth}\n';
const lines = (...text: string[]): string => `${text.join('\n')}\n`;

function load(text: string, files: Record<string, string> = {}) {
  const dir = tempDir({
    'suite.yaml': text,
    'policies/p.yaml': POLICY,
    'metrics/mine.ts': 'export default () => 1',
    ...files,
  });
  const { suite, diagnostics } = parseSpec(text, { file: join(dir, 'suite.yaml') });
  const found = diagnostics.map(
    (d) => `${d.code} ${d.file.slice(dir.length + 1)}:${d.line}:${d.column}`,
  );
  return { suite, diagnostics, found };
}

describe('an Assay suite', () => {
  test('loads into a suite with one query per test', () => {
    const { suite, found } = load(
      lines(
        'version: "1"',
        'suite: customer-service-agent',
        'tests:',
        '  - {id: args, metric: args_valid, policy: policies/p.yaml, tools: [pay], strict: true}',
        '  - {id: rules, metric: sequence_valid, rules: [{type: require, tool: auth}]}',
        '  - {id: file_rules, metric: sequence_valid, policy: policies/p.yaml}',
        '  - {id: block, metric: tool_blocklist, blocklist: [admin_*, "*_dangerous"], tags: [safety]}',
        '  - {id: inline, metric: args_valid, tool: pay, constraints: {amount: {max: 5}}}',
        '  - {id: own, metric: ./metrics/mine.ts, config: {threshold: 0.95}, timeout_ms: 50}',
        'output: {format: [sarif, junit], directory: out}',
      ),
    );
    expect(found).toEqual([]);
    expect(suite).toMatchObject({
      agent: 'customer-service-agent',
      output: { formats: ['sarif', 'junit'], directory: 'out' },
    });
    expect(suite?.queries.map(({ id, test: body }) => [id, body?.metric])).toEqual([
      ['args', 'args_valid'],
      ['rules', 'sequence_valid'],
      ['file_rules', 'sequence_valid'],
      ['block', 'tool_blocklist'],
      ['inline', 'args_valid'],
      ['own', 'module'],
    ]);
    expect(suite?.queries[5]?.test).toMatchObject({
      name: 'mine',
      config: { threshold: 0.95 },
      timeoutMs: 50,
    });
  });

  test.each([
    [
      'a test without its input',
      '  - {id: t, metric: args_valid}',
      ['SPEC_REQUIRED suite.yaml:2:5'],
    ],
    [
      'a test without an id',
      '  - {metric: sequence_valid, rules: []}',
      ['SPEC_REQUIRED suite.yaml:2:5'],
    ],
    [
      'rules that are none',
      '  - {id: t, metric: sequence_valid, rules: []}',
      ['POLICY_CANNOT_FAIL suite.yaml:2:44'],
    ],
    [
      'an empty blocklist',
      '  - {id: t, metric: tool_blocklist, blocklist: []}',
      ['POLICY_CANNOT_FAIL suite.yaml:2:48'],
    ],
    ['an unknown metric', '  - {id: t, metric: args_vald}', ['SPEC_VALUE suite.yaml:2:21']],
    [
      'a module that is not there',
      '  - {id: t, metric: ./m.ts}',
      ['SPEC_FILE_MISSING suite.yaml:2:21'],
    ],
    ['a module outside', '  - {id: t, metric: ../m.ts}', ['SPEC_FILE_MISSING suite.yaml:2:21']],
    [
      'an unknown key',
      '  - {id: t, metric: tool_blocklist, blocklst: [x]}',
      ['SPEC_UNKNOWN_KEY suite.yaml:2:37'],
    ],
    [
      'a policy that is not there',
      '  - {id: t, metric: args_valid, policy: q.yaml}',
      ['SPEC_FILE_MISSING suite.yaml:2:41'],
    ],
    [
      'a policy outside',
      '  - {id: t, metric: args_valid, policy: ../q.yaml}',
      ['SPEC_FILE_MISSING suite.yaml:2:41'],
    ],
    [
      'a policy without what is asked',
      '  - {id: t, metric: tool_blocklist, policy: policies/p.yaml}',
      ['SPEC_CANNOT_FAIL suite.yaml:2:45'],
    ],
    [
      'a filter that matches nothing',
      '  - {id: t, metric: args_valid, policy: policies/p.yaml, tools: [pey]}',
      ['SPEC_CANNOT_FAIL suite.yaml:2:65'],
    ],
    [
      'a mistake inside the policy file',
      '  - {id: t, metric: args_valid, policy: bad.yaml}',
      ['POLICY_UNKNOWN_KEY bad.yaml:1:29'],
    ],
    [
      'an unquoted star',
      '  - {id: t, metric: tool_blocklist, blocklist: [*_dangerous]}',
      ['YAML_SYNTAX suite.yaml:2:49'],
    ],
  ])('%s is reported at its place', (_, test, expected) => {
    const { suite, found } = load(`tests:\n${test}\n`, {
      'bad.yaml': 'tools: {t: {arguments: {v: {maxx: 1}}}}',
    });
    expect(suite).toBeUndefined();
    expect(found).toEqual(expected);
  });

  test.each(vectors.filter(({ kind }) => kind === 'config.ineffective'))(
    '$id $note',
    ({ input }) => {
      const { test: body, spec } = input as { test?: object; spec?: object };
      const text = body
        ? JSON.stringify({ version: '1', suite: 's', tests: [body] })
        : JSON.stringify({ agent: 'a', queries: [{ query: 'q', ...spec }] });
      expect(load(text).diagnostics).toMatchObject([
        { severity: 'error', code: expect.stringContaining('CANNOT_FAIL') },
      ]);
    },
  );
});

describe('policy and path.rules in a spec', () => {
  const spec = (rest: string) => load(`agent: a\n${rest}\n`, { 'bad.yaml': 'blocklist: []\n' });

  test('a file is read once for all queries, from the root, defaults or the query', () => {
    const { suite, found } = spec(
      'policy: policies/p.yaml\nqueries:\n  - {id: x, query: q}\n  - {id: y, query: q, policy: {blocklist: [rm]}}\n  - {id: z, query: q, policy: null, path: {max_loops: 1}}',
    );
    expect(found).toEqual([]);
    const [x, y, z] = suite!.queries;
    expect(x?.policies?.[0]?.rules).toHaveLength(1);
    expect(y?.policies?.[0]?.blocklist).toHaveLength(1);
    expect(z?.policies).toBeUndefined();
  });

  test.each([
    [
      'a bad policy file is reported once, at its own line',
      'policy: bad.yaml\nqueries: [{query: q}, {query: r}]',
      ['POLICY_CANNOT_FAIL bad.yaml:1:12'],
    ],
    [
      'an inline policy at its place in the spec',
      'queries:\n  - query: q\n    policy: {tools: {t: {arguments: {v: {type: strng}}}}}',
      ['POLICY_VALUE suite.yaml:4:48'],
    ],
    [
      'a rule at its place',
      'queries:\n  - query: q\n    path: {rules: [{type: before, first: a}]}',
      ['SPEC_VALUE suite.yaml:4:20'],
    ],
    [
      'a misspelt key of a rule',
      'queries:\n  - query: q\n    path: {rules: [{type: require, tool: a, whithin: 3}]}',
      ['SPEC_UNKNOWN_KEY suite.yaml:4:45'],
    ],
  ])('%s', (_, text, expected) => {
    expect(spec(text).found).toEqual(expected);
  });

  test('nothing outside the folder of the spec is read, not even through a link', () => {
    const dir = tempDir({ 'outer.yaml': POLICY, 'sub/x.txt': '' });
    symlinkSync(join(dir, 'outer.yaml'), join(dir, 'sub/link.yaml'));
    for (const policy of ['../outer.yaml', 'link.yaml', join(dir, 'outer.yaml')]) {
      const text = `agent: a\npolicy: ${policy}\nqueries: [{query: q}]\n`;
      writeFileSync(join(dir, 'sub/spec.yaml'), text);
      const { suite, diagnostics } = parseSpec(text, { file: join(dir, 'sub/spec.yaml') });
      expect(suite).toBeUndefined();
      expect(diagnostics).toMatchObject([
        { code: 'SPEC_FILE_MISSING', message: expect.stringContaining('outside') },
      ]);
    }
  });

  test('a policy file that changed gives another hash', () => {
    const hashOf = (policy: string) =>
      load('agent: a\npolicy: q.yaml\nqueries: [{query: q}]\n', { 'q.yaml': policy }).suite!.hash;
    expect(hashOf('blocklist: [a]')).toBe(hashOf('blocklist: [a]'));
    expect(hashOf('blocklist: [a]')).not.toBe(hashOf('blocklist: [b]'));
  });

  test('of a text that is in no file, a policy file is only missed when it is needed', () => {
    const { suite, diagnostics } = parseSpec('agent: a\npolicy: p.yaml\nqueries: [{query: q}]\n', {
      file: 'nowhere.yaml',
    });
    expect(suite).toBeDefined();
    expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'SPEC_FILE_MISSING' }]);
  });
});

const suiteOf = (tests: string): ReturnType<typeof parseSpec> =>
  parseSpec(
    `configVersion: 1\nsuite: s\nmodel: trace\nsettings: {parallel: 4, cache: true}\ntests:\n${tests}`,
  );

describe('a test of the form expected: {type: …} is a query', () => {
  test.each([
    ['{type: must_contain, must_contain: [Hello]}', { correctness: { regex_match: 'Hello' } }],
    [
      '{type: must_not_contain, must_not_contain: banana}',
      { correctness: { not: { regex_match: 'banana' } } },
    ],
    ['[{must_contain: Paris}]', { correctness: { regex_match: 'Paris' } }],
    ['{type: regex_match, pattern: "^a", flags: [i]}', { correctness: { regex_match: '(?i)^a' } }],
    [
      '{type: semantic_similarity_to, semantic_similarity_to: x y, min_score: 0.7}',
      { correctness: { similarity: { to: 'x y', min: 0.7 } } },
    ],
    [
      '{type: sequence_valid, rules: [{type: require, tool: a}]}',
      { path: { rules: [{ type: 'require', tool: 'a' }] } },
    ],
    [
      '{type: sequence_valid, sequence: [a, b]}',
      {
        path: {
          expected_calls: { mode: 'exact', args: 'ignore', calls: [{ tool: 'a' }, { tool: 'b' }] },
        },
      },
    ],
    [
      '{type: trace_tool_sequence, sequence: [a, b]}',
      { path: { expected_calls: { mode: 'exact', calls: [{ tool: 'a' }, { tool: 'b' }] } } },
    ],
    [
      '{type: trace_tool_sequence, sequence: [a, b], allow_other_tools: true}',
      { path: { expected_calls: { mode: 'in_order', calls: [{ tool: 'a' }, { tool: 'b' }] } } },
    ],
    ['{type: tool_blocklist, blocked: [rm]}', { path: { forbidden_tools: ['rm'] } }],
    [
      '{type: json_schema, json_schema: \'{"type": "object"}\'}',
      { correctness: { json_schema: { type: 'object' } } },
    ],
  ])('%s', (expected, wanted) => {
    const { suite, diagnostics } = suiteOf(
      `  - id: t\n    input: {prompt: Say hello}\n    expected: ${expected}\n`,
    );
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(suite?.queries[0]).toMatchObject({ id: 't', query: 'Say hello', ...wanted });
  });

  test('with a schema per tool it has a policy', () => {
    const { suite } = suiteOf(
      '  - id: t\n    input: {prompt: p}\n    expected:\n      type: args_valid\n      schema: {pay: {type: object, properties: {n: {type: integer, maximum: 3}}}}\n',
    );
    expect(suite?.queries[0]?.policies?.[0]?.tools.has('pay')).toBe(true);
  });
});

describe('unsupported parts are rejected at their line', () => {
  test.each([
    [
      '  - id: t\n    input: {prompt: p}\n    expected: {type: faithfulness, min_score: 0.8}\n',
      'SPEC_VALUE',
      8,
      /hallucination_check/,
    ],
    ['  - id: t\n    input: {prompt: p}\n', 'SPEC_REQUIRED', 6, undefined],
    [
      '  - id: t\n    input: {prompt: p}\n    expected: {type: must_contain}\n',
      'SPEC_REQUIRED',
      8,
      undefined,
    ],
    [
      '  - id: t\n    input: {prompt: p}\n    expected: [{must_contain: a}, {must_contain: b}]\n',
      'SPEC_VALUE',
      8,
      /separate tests/,
    ],
    [
      '  - id: t\n    expected: {type: must_contain, must_contain: [a]}\n',
      'SPEC_REQUIRED',
      6,
      undefined,
    ],
  ])('%j', (tests, code, line, hint) => {
    const { suite, diagnostics } = suiteOf(tests);
    expect(suite).toBeUndefined();
    expect(diagnostics.find((each) => each.code === code)).toMatchObject({ code, line });
    if (hint !== undefined) expect(diagnostics.map((each) => each.hint).join()).toMatch(hint);
  });
});

test('a POSIX class is read as in Rust, and an unsupported one is rejected at its line', () => {
  const read = (pattern: string) =>
    suiteOf(`- {id: t, input: Hi, expected: {type: regex_match, pattern: '${pattern}'}}\n`);
  expect(read('^[[:alpha:]_]+$').suite?.queries[0]?.correctness).toMatchObject({
    regex_match: '^[A-Za-z_]+$',
  });
  expect(read('[x[:^digit:]]')).toMatchObject({
    suite: undefined,
    diagnostics: [{ severity: 'error', code: 'SPEC_VALUE', line: 6 }],
  });
});

test('checks on calls fail a test, and a close check is a warning', () => {
  const { suite, diagnostics } = suiteOf(
    '- {id: t, input: Hi, assertions: [{type: trace_must_call_tool, tool: a}, {type: regex_match, pattern: "a\\\\b"}]}\n',
  );
  expect(suite?.queries[0]?.path).toMatchObject({ severity: 'fail' });
  expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'SPEC_CLOSE', line: 6 }]);
});

test('a bracket and a colon outside a POSIX class are literal', () => {
  const { diagnostics } = suiteOf(
    `- {id: t, input: Hi, expected: {type: regex_match, pattern: '\\[[:;]x[:a]'}}\n`,
  );
  expect(diagnostics).toEqual([]);
});

test('a file with tests of another tool is not called an Assay suite', () => {
  const { diagnostics } = parseSpec(
    'prompts: [p.txt]\nproviders: [openai:gpt-5]\ntests:\n  - vars: {x: 1}\n    assert: [{type: equals, value: a}]\n',
  );
  expect(diagnostics.length).toBeGreaterThan(0);
  expect(diagnostics.map(({ message }) => message).join()).not.toContain('Assay');
});
