import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

// The terminal output of a first run: its end, its numbers, and the names of stored runs.

const SPEC = `version: 1
agent: demo
runner: {replay: ./traces.jsonl}
queries:
  - {id: good, query: one, correctness: {expected_in_answer: [yes]}}
  - {id: bad, query: two, correctness: {not_in_answer: [sorry]}}
`;
const TRACES =
  '{"id": "good", "query": "one", "answer": "yes"}\n{"id": "bad", "query": "two", "answer": "I am sorry"}\n';
const project = () => tempDir({ 'agentci_spec.yaml': SPEC, 'traces.jsonl': TRACES });

describe('every run ends with the verdict and the reports it wrote', () => {
  test.each([
    { formats: [], output: 'stdout', files: [] },
    {
      formats: ['-f', 'console', '-f', 'json=out/r.json'],
      output: 'stdout',
      files: ['out/r.json'],
    },
    { formats: ['-f', 'json'], output: 'stderr', files: [] },
    {
      formats: ['-f', 'junit=r.xml', '-o', 'r.html'],
      output: 'stderr',
      files: ['r.xml', 'r.html'],
    },
    { formats: ['-f', 'markdown', '--quiet'], output: 'stderr', files: [] },
  ] as const)('$formats on $output', async ({ formats, output, files }) => {
    const cwd = project();
    const outcome = await cli(['test', ...formats], { cwd });
    expect(outcome.code).toBe(1);
    const text = outcome[output];
    expect(text).toContain('2 queries: 1 passed, 1 failed');
    expect(text).toContain('failed (exit 1)\n');
    const end = text.slice(text.indexOf('(exit 1)'));
    for (const file of files) expect(end).toContain(`report: ${file}\n`);
    for (const file of files) expect(existsSync(join(cwd, file))).toBe(true);
    if (formats[1] === 'json') expect(() => JSON.parse(outcome.stdout)).not.toThrow();
  });
});

test('a failing query shows its answer with the forbidden word marked', async () => {
  expect((await cli(['test'], { cwd: project() })).stdout).toContain(
    '        answer: I am [-sorry-]\n',
  );
});

test('-n says how many runs passed', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml':
      'version: 1\nagent: a\nrunner: {module: ./a.mjs}\nqueries: [{id: q, query: q, correctness: {expected_in_answer: [x]}}]\n',
    'a.mjs': 'export default () => "x";\n',
  });
  const { stdout } = await cli(['test', '-n', '3'], { cwd });
  expect(stdout).toContain('3 of 3 runs passed');
});

test('a time without a unit is refused, with the ways to write it', async () => {
  const { code, stderr } = await cli(['test', '--timeout', '5'], { cwd: project() });
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('write 5s, 5ms or 5m'),
  });
  for (const time of ['5s', '500ms', '2m'])
    expect((await cli(['test', '--timeout', time], { cwd: project() })).code).toBe(1);
});

describe('--run latest', () => {
  test.each([
    { args: ['eval', '--run', 'latest'], code: 1 },
    { args: ['report', '--run', 'latest'], code: 0 },
    { args: ['report', '--run', 'latest', '--before', 'latest', '-f', 'markdown'], code: 0 },
    { args: ['export-metrics', '--run', 'latest'], code: 0 },
    { args: ['save', '--version', 'v1', '--run', 'latest', '--query', 'good'], code: 0 },
    { args: ['diff', '--baseline-run', 'latest', '--compare-run', 'latest'], code: 0 },
  ])('$args', async ({ args, code }) => {
    const cwd = project();
    const missing = await cli(args, { cwd });
    expect(missing.code).toBe(2);
    await cli(['test', '--quiet'], { cwd });
    expect(await cli(args, { cwd })).toMatchObject({ code });
  });

  test('view', async () => {
    const cwd = project();
    await cli(['test', '--quiet'], { cwd });
    const child = spawn(process.execPath, [CLI, 'view', '--run', 'latest'], { cwd });
    const line = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data) => resolve(String(data))),
    );
    child.kill('SIGINT');
    expect(line).toMatch(/#\/\?run=\d{8}-/);
  });
});

describe('validate counts the checks that test decides', () => {
  const POLICY = 'policy: {version: "2", name: p, tools: {deny: [rm]}}';
  test.each([
    {
      what: 'checks of three layers',
      query:
        'correctness: {expected_in_answer: [yes], exact_match: yes}, path: {max_tool_calls: 3, match_mode: strict, expected_tools: [a]}, cost: {max_total_tokens: 5}',
    },
    {
      what: 'metrics with and without a bound',
      query:
        'correctness: {exact_match: yes}, metrics: [tool_success, {latency: 100}, {pii_leakage: {min: 1, severity: fail}}]',
    },
    {
      what: 'a metric over the whole run',
      query: 'correctness: {exact_match: yes}, metrics: [{privacy_budget: 0.5}]',
    },
    {
      what: 'several rubrics',
      query:
        'correctness: {exact_match: yes, llm_judge: [{rule: a}, {rule: b}], safety_check: {rule: c}}',
    },
    {
      what: 'rules and settings',
      query:
        'path: {rules: [{type: require, tool: a}], expected_tool_sequence: [a, b], min_sequence_similarity: 0.5, sequence_metric: lcs}',
    },
    { what: 'a policy', query: `correctness: {exact_match: yes}, ${POLICY}` },
  ])('$what', async ({ query }) => {
    const cwd = tempDir({
      'agentci_spec.yaml': `version: 1\nagent: demo\nrunner: {replay: ./traces.jsonl}\nqueries:\n  - {id: q, query: one, ${query}}\n  - {id: r, query: two, ${query}}\n`,
      'traces.jsonl': ['one', 'two']
        .map(
          (text) =>
            `${JSON.stringify({ query: text, answer: 'yes', tool_calls: [{ name: 'a' }, { name: 'b' }], llm_calls: [] })}\n`,
        )
        .join(''),
    });
    const valid = await cli(['validate'], { cwd });
    const counted = /(\d+) checks?/.exec(valid.stdout)?.[1];
    expect({ counted, stdout: valid.stdout }).toMatchObject({ counted: expect.any(String) });
    const run = await cli(['test', '--judge', 'off'], { cwd });
    expect(/(\d+) checks? in/.exec(run.stdout)?.[1]).toBe(counted);
  });
});
