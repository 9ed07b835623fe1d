import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { node, ROOT, VITEST } from '@agentci/testing/node';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';

// Tests the entry points through the frameworks: the output of a user's test file, and whether it
// fails the build.

const SPEC = `version: 1
agent: clerk
runner: {module: ./agent.mjs}
queries:
  - id: good
    query: say ok
    correctness: {expected_in_answer: [ok]}
  - id: wordy
    query: search a lot
    correctness: {expected_in_answer: [ok]}
    path: {max_tool_calls: 1}
  - id: wrong
    query: say no
    correctness: {expected_in_answer: [ok]}
    path:
      forbidden_tools: [drop_*]
  - id: crash
    query: throw
    correctness: {expected_in_answer: [ok]}
  - id: known
    query: say no again
    xfail: to be fixed
    correctness: {expected_in_answer: [ok]}
`;

const AGENT = `export default async (query) => {
  if (query === 'throw') throw new Error('out of paper');
  if (query === 'search a lot') return { answer: 'ok', tool_calls: [{ name: 's', args: {} }, { name: 't', args: {} }, { name: 's', args: {} }] };
  if (query.startsWith('say no')) return { answer: 'no', tool_calls: [{ name: 'drop_table', args: {} }] };
  return { answer: 'ok', tool_calls: [] };
};
`;

function project(files: Record<string, string>): string {
  const cwd = tempDir({
    'package.json': { type: 'module' },
    'agentci_spec.yaml': SPEC,
    'agent.mjs': AGENT,
    ...files,
  });
  symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'), 'dir');
  return cwd;
}

const vitest = (cwd: string, ...args: string[]) =>
  node([VITEST, 'run', '--root', cwd, '--reporter=verbose', ...args], cwd);
const nodeTest = (cwd: string, ...args: string[]) =>
  node(['--test', '--test-reporter=spec', ...args, join(cwd, 'spec.test.mjs')], cwd);

const DOORS = [
  {
    name: 'vitest',
    run: vitest,
    head: "import { describeSpec } from '@agentci/agentci/vitest';\n",
    skipped: '↓',
  },
  {
    name: 'node-test',
    run: nodeTest,
    head: "import { describeSpec } from '@agentci/agentci/node-test';\n",
    skipped: '﹣',
  },
] as const;

describe.each(DOORS)('describeSpec of $name', ({ run, head, skipped }) => {
  test('gives every query a test that fails with place, check and number, and lets warnings pass aloud', async () => {
    const { code, text } = await run(
      project({ 'spec.test.mjs': `${head}describeSpec('agentci_spec.yaml');\n` }),
    );
    expect(code).toBe(1);
    expect(text).toMatch(/[✓✔].*good: say ok/);
    expect(text).toMatch(/[✓✔].*wordy: search a lot/);
    expect(text).toContain(
      'wordy: warn: agentci_spec.yaml:11:12 path.max_tool_calls: tool calls: 3, limit 1',
    );
    expect(text).toMatch(/[×✖].*wrong: say no/);
    expect(text).toContain('agentci_spec.yaml:14:19 correctness.expected_in_answer: ');
    expect(text).toContain('agentci_spec.yaml:16:7 path.forbidden_tools: ');
    expect(text).toMatch(/[×✖].*crash: throw/);
    expect(text).toContain('out of paper');
    expect(text).toMatch(new RegExp(`${skipped}.*known: say no again`));
    expect(text).toContain('expected failure: to be fixed');
  });

  test('is green when nothing fails, and strict turns a warning red', async () => {
    const file = (options: string) => `${head}describeSpec('agentci_spec.yaml', ${options});\n`;
    const pass = await run(
      project({ 'spec.test.mjs': file('{ ids: ["good", "wordy", "known"], concurrent: true }') }),
    );
    expect({ code: pass.code, text: pass.code === 0 ? '' : pass.text }).toEqual({
      code: 0,
      text: '',
    });
    const strict = await run(
      project({ 'spec.test.mjs': file('{ ids: ["good", "wordy"], strict: true }') }),
    );
    expect(strict.code).toBe(1);
    expect(strict.text).toContain('not clean under strict');
  });

  test('fails when nothing is selected, checked, or readable, each for its reason', async () => {
    const cases = [
      {
        call: "describeSpec('agentci_spec.yaml', { tags: ['nope'] })",
        says: 'none of the 5 queries',
      },
      { call: "describeSpec('missing.yaml')", says: 'missing.yaml does not exist' },
      { call: "describeSpec('bad.yaml')", says: 'bad.yaml:4:5 SPEC_UNKNOWN_KEY' },
      { call: "describeSpec('agentci_spec.yaml', { shard: '3/2' })", says: '"3/2" is not a shard' },
      { call: "describeSpec('empty.yaml')", says: 'nothing was checked' },
      { call: "describeSpec('replay.yaml')", says: 'broken.jsonl:2' },
    ];
    const cwd = project({
      'spec.test.mjs': `${head}${cases.map(({ call }) => `${call};\n`).join('')}`,
      'bad.yaml': 'agent: a\nqueries:\n  - query: q\n    corectness: {expected_in_answer: [a]}\n',
      'empty.yaml': 'agent: a\nrunner: {module: ./agent.mjs}\nqueries:\n  - query: say ok\n',
      'replay.yaml':
        'agent: a\nrunner: {replay: ./broken.jsonl}\nqueries:\n  - {id: a, query: q, correctness: {expected_in_answer: [ok]}}\n',
      'broken.jsonl': '{"id":"a","answer":"ok"}\n{"id": \n',
    });
    const { code, text } = await run(cwd);
    for (const { says } of cases) expect(text).toContain(says);
    expect(text).toMatch(new RegExp(`${cases.length} failed|fail ${cases.length}`));
    expect(code).toBe(1);
  });

  test('measures checks over all queries', async () => {
    const spec = (max: number) =>
      `agent: a\nrunner: {module: ./private.mjs}\nmetrics:\n  - privacy_budget: {total_budget: ${max}, min: 0.01, severity: fail}\nqueries:\n  - {id: a, query: q1, correctness: {expected_in_answer: [ok]}}\n  - {id: b, query: q2, correctness: {expected_in_answer: [ok]}}\n`;
    const agent = `export default async () => ({ events: [
      { type: 'tool_call', payload: { name: 'count', status: 'success', privacy_epsilon: 0.6 } },
      { type: 'agent_response', payload: { content: 'ok' } } ] });
`;
    const file = `${head}describeSpec('agentci_spec.yaml');\n`;
    const outcome = (max: number) =>
      run(project({ 'spec.test.mjs': file, 'agentci_spec.yaml': spec(max), 'private.mjs': agent }));
    const tight = await outcome(1);
    expect(tight.text).toMatch(/[×✖].*as a whole/);
    expect(tight.text).toContain('privacy_budget');
    expect(tight.code).toBe(1);
    expect((await outcome(2)).code).toBe(0);
  });
});

const MATCHER = `
test('recorded', async () => {
  await expect({ answer: 'ok', tool_calls: [] }).toPassSpec('good');
});
test('wrong', async () => {
  await expect('no').toPassSpec('good');
});
test('unknown', async () => {
  await expect('ok').toPassSpec('goood');
});
test('loaded', async () => {
  const { suite } = await loadSpec('agentci_spec.yaml');
  await expect({ answer: 'ok', tool_calls: [] }).toPassSpec(suite.queries[0]);
});
test('time is not made up', async () => {
  await expect('ok').toPassSpec('timed', { spec: 'timed.yaml', strict: true });
});
`;

test.each([
  {
    name: 'vitest',
    run: vitest,
    file: `import { expect, test } from 'vitest';\nimport '@agentci/agentci/vitest';\nimport { loadSpec } from '@agentci/agentci';\n${MATCHER}
test('negated', async () => { await expect('no').not.toPassSpec('good'); });
test('an error is not a failure to be glad about', async () => { await expect('no').not.toPassSpec('timed', { spec: 'judged.yaml' }); });
`,
    failed: 4,
  },
  {
    name: 'node-test',
    run: nodeTest,
    file: `import { test } from 'node:test';\nimport { expect } from '@agentci/agentci/node-test';\nimport { loadSpec } from '@agentci/agentci';\n${MATCHER}`,
    failed: 3,
  },
])(
  'toPassSpec of $name judges a recording by a query of the spec',
  async ({ run, file, failed }) => {
    const cwd = project({
      'spec.test.mjs': file,
      'timed.yaml':
        'agent: a\nqueries:\n  - {id: timed, query: q, correctness: {expected_in_answer: [ok]}, cost: {max_latency_ms: 9000}}\n',
      'judged.yaml':
        'agent: a\nqueries:\n  - {id: timed, query: q, correctness: {llm_judge: [{rule: It is nice}]}}\n',
    });
    const { code, text } = await run(cwd);
    expect(code).toBe(1);
    expect(text).toMatch(/[✓✔].*recorded/);
    expect(text).toMatch(/[✓✔].*loaded/);
    expect(text).toContain('agentci_spec.yaml:7:19 correctness.expected_in_answer');
    expect(text).toContain('did you mean "good"?');
    expect(text).toContain('cost.max_latency_ms');
    expect(text).toMatch(new RegExp(`${failed} failed|fail ${failed}`));
  },
);
