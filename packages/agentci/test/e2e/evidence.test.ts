import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

// A verdict depends on what a recording proves, not on what it omits.

const spec = (rest: string) =>
  `version: 1\nagent: demo\nqueries:\n  - id: q\n    query: hi\n    ${rest}\n`;
const project = (rest: string, recording: unknown, name = 't.json') =>
  tempDir({
    'agentci_spec.yaml': spec(rest),
    [name]: typeof recording === 'string' ? recording : JSON.stringify(recording),
  });
const run = (cwd: string, ...args: string[]) =>
  cli(['test', '--traces', 't.json', ...args], { cwd });

describe('a rule against a tool', () => {
  const conversation = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'delete_all', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'done' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
  ];

  test.each([
    'langchain-langgraph',
    'codex-cli',
    'pydantic-ai-messages',
    'tau-bench',
    'claude-code-transcript',
  ])('does not pass because the recording is called %s', async (format) => {
    const cwd = project('path: {forbidden_tools: [delete_all]}', conversation);
    const { code, stdout } = await run(cwd, '--trace-format', format);
    expect(code).toBe(2);
    expect(stdout).toContain('looks like anthropic-messages');
  });

  test.each([
    ['under a misspelt key', { tool_cals: [{ name: 'rm' }] }],
    ['in a sub-agent', { tool_calls: [], subagents: [{ tool_calls: [{ name: 'rm' }] }] }],
  ])('does not pass when the call is %s', async (_, rest) => {
    const { code, stdout } = await run(
      project('path: {forbidden_tools: [rm]}', { query: 'hi', answer: 'ok', ...rest }),
    );
    expect(code).toBe(2);
    expect(stdout).toContain('! trace:');
  });

  test.each(['mcp__fs__rm', 'functions.rm'])('sees %s as rm', async (name) => {
    const recording = { query: 'hi', answer: 'ok', tool_calls: [{ name }] };
    expect((await run(project('path: {forbidden_tools: [rm]}', recording))).code).toBe(1);
  });
});

describe('totals', () => {
  const recording = {
    query: 'hi',
    answer: 'ok',
    cost_usd: 0,
    llm_calls: [
      { model: 'm', cost_usd: 1.5 },
      { model: 'm', cost_usd: 1.5 },
    ],
  };

  test('a claim below the sum of its calls does not keep a limit', async () => {
    const { code, stdout } = await run(project('cost: {max_cost_usd: 1}', recording), '--strict');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /max_cost_usd.*3 USD, limit 1 USD \(the sum of the calls; the recording reports 0/,
    );
    expect(stdout).toContain('USAGE_DRIFT');
  });
});

describe('warnings of a recording', () => {
  const recording = { query: 'hi', answer: 'ok', tool_calls: [], steps: [{ tool: 'x' }] };
  const rest = 'correctness: {expected_in_answer: [ok]}';

  test('are in every report', async () => {
    const cwd = project(rest, recording);
    const formats = ['console', 'json', 'junit', 'sarif', 'prometheus', 'markdown', 'csv', 'html'];
    const { code } = await run(
      cwd,
      ...formats.flatMap((format) => ['-f', `${format}=out.${format}`]),
    );
    expect(code).toBe(0);
    for (const format of formats) {
      const text = readFileSync(join(cwd, `out.${format}`), 'utf8');
      expect(text, format).toContain(
        format === 'prometheus' ? 'agentci_trace_warnings' : 'calls may be recorded under',
      );
    }
    expect((await run(cwd, '-f', 'github')).stdout).toMatch(
      /::warning .*calls may be recorded under/,
    );
    expect(
      JSON.parse(readFileSync(join(cwd, 'out.json'), 'utf8')).results[0].warnings,
    ).toMatchObject([{ code: 'SIMPLE_UNKNOWN_KEY' }, { code: 'SIMPLE_CALLS_ELSEWHERE' }]);
  });

  test('are could not tell under --strict when a call may be hidden', async () => {
    const { code, stdout } = await run(project(rest, recording), '--strict');
    expect(code).toBe(2);
    expect(stdout).toContain('exit 2');
  });

  test('a recording that belongs to no query is could not tell under --strict', async () => {
    const cwd = project(rest, [
      { query: 'hi', answer: 'ok' },
      { query: 'other', answer: 'ok' },
    ]);
    expect((await run(cwd)).code).toBe(0);
    const { code, stdout } = await run(cwd, '--strict');
    expect(code).toBe(2);
    expect(stdout).toContain('1 recording matches no query');
  });
});

test('import names what it skips in a folder, and an eval set is refused with the way out', async () => {
  const cwd = tempDir({
    'in/a.traj': JSON.stringify({ query: 'hi', answer: 'ok' }),
    'in/notes.md': '# notes',
    'set.json': JSON.stringify({ eval_set_id: 's', eval_cases: [] }),
  });
  const folder = await cli(['import', 'in'], { cwd });
  expect(folder).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('skipped, not recordings: in/notes.md'),
  });
  const set = await cli(['import', 'set.json'], { cwd });
  expect(set.code).toBe(2);
  expect(set.stderr).toContain('it says what should happen');
  expect(set.stderr).not.toContain('--trace-format');
});
