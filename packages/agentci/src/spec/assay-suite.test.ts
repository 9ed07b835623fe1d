import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../test/support/temp-dir.ts';
import vectors from '../../test/vectors/policy.json' with { type: 'json' };
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
    ['an unknown metric', '  - {id: t, metric: args_vald}', ['SPEC_CHOICE suite.yaml:2:21']],
    [
      'a module that is not there',
      '  - {id: t, metric: ./m.ts}',
      ['SPEC_MODULE_FILE suite.yaml:2:21'],
    ],
    ['a module outside', '  - {id: t, metric: ../m.ts}', ['SPEC_MODULE_FILE suite.yaml:2:21']],
    [
      'an unknown key',
      '  - {id: t, metric: tool_blocklist, blocklst: [x]}',
      ['SPEC_UNKNOWN_KEY suite.yaml:2:37'],
    ],
    [
      'a policy that is not there',
      '  - {id: t, metric: args_valid, policy: q.yaml}',
      ['SPEC_POLICY_FILE suite.yaml:2:41'],
    ],
    [
      'a policy outside',
      '  - {id: t, metric: args_valid, policy: ../q.yaml}',
      ['SPEC_POLICY_FILE suite.yaml:2:41'],
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
      ['POLICY_UNKNOWN_KEYWORD bad.yaml:1:29'],
    ],
    [
      'an unquoted star',
      '  - {id: t, metric: tool_blocklist, blocklist: [*_dangerous]}',
      ['YAML_UNKNOWN_ALIAS suite.yaml:2:49'],
    ],
  ])('%s is refused where it stands', (_, test, expected) => {
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
      ['POLICY_CHOICE suite.yaml:4:48'],
    ],
    [
      'a rule at its place',
      'queries:\n  - query: q\n    path: {rules: [{type: before, first: a}]}',
      ['SPEC_REQUIRED suite.yaml:4:20'],
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
        { code: 'SPEC_POLICY_FILE', message: expect.stringContaining('outside') },
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
    expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'SPEC_POLICY_FILE' }]);
  });
});
