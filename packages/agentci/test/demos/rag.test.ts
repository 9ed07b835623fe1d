import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { cliProcess } from '@agentci/testing/cli';
import { node } from '@agentci/testing/node';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { beforeAll, describe, expect, test } from 'vitest';

const workspace = workspaceCopy();
const cwd = join(workspace, 'demos', 'rag');

async function run(env: Record<string, string>, ...args: string[]): Promise<RunResult> {
  const { stdout } = await cliProcess(['test', '-w', '1', '-f', 'json', ...args], { cwd, env });
  return JSON.parse(stdout) as RunResult;
}

const calls = (run: RunResult, id: string): unknown =>
  run.results.find((result) => result.id === id)?.path.details.tool_calls;

describe('the documentation assistant', () => {
  let fixed: RunResult;
  let broken: RunResult;
  beforeAll(async () => {
    fixed = await run({}, '--judge', 'recorded');
    broken = await run({ RAG_PROMPT: 'v1-broken' }, '--judge', 'recorded');
  });

  test('passes all eighteen queries with the fixed prompt, without a key, judged by stored verdicts', () => {
    expect(fixed.summary).toMatchObject({
      total: 18,
      passed: 18,
      warnings: 0,
      errors: 0,
      exit_code: 0,
    });
    expect(fixed.judge).toMatchObject({
      calls: 0,
      cached: expect.toSatisfy((n: number) => n > 10),
    });
    expect(fixed.results.filter(({ query }) => query === 'Hi there!')).toHaveLength(2);
  });

  test('declines the weather without a tool call, while the broken prompt makes eleven', () => {
    expect(calls(fixed, 'weather')).toMatchObject({ actual: 0, max: 0 });
    expect(calls(broken, 'weather')).toMatchObject({ actual: 11, max: 0 });
    const weather = broken.results.find(({ id }) => id === 'weather');
    expect([weather?.correctness.status, weather?.path.status, weather?.cost.status]).toEqual([
      'pass',
      'warn',
      'warn',
    ]);
  });

  test('with the broken prompt, only the made-up answer fails', () => {
    expect(broken.summary.exit_code).toBe(1);
    expect(broken.results.filter(({ status }) => status === 'fail').map(({ id }) => id)).toEqual([
      'load-balancer',
    ]);
    expect(broken.results.filter(({ status }) => status === 'error')).toEqual([]);
  });
});

test('npm run demo tells the story and ends with the report and what to do next', {
  timeout: 60_000,
}, async () => {
  const { code, text } = await node([join(workspace, 'scripts', 'demo.mjs')], workspace);
  expect(code).toBe(0);
  for (const word of [
    '✓ pass  install',
    '! warn  weather',
    '✗ fail  load-balancer',
    '11 → 0  (▼ 100%)',
  ])
    expect(text).toContain(word);
  const report = /report of the first run: (\S+)/.exec(text)?.[1] ?? '';
  expect(report).toMatch(/demos\/rag\/\.agentci\/report\.html$/);
  const next = text.slice(text.indexOf('\nNext:\n')).trim().split('\n');
  expect(
    next.map((line) => /node demos\/\S+(?: \w+)?|npx agentci init --help|^Next:$/.exec(line)?.[0]),
  ).toEqual([
    'Next:',
    'node demos/run.mjs rag',
    'node demos/matrix/run.mjs',
    'node demos/conversation/run.mjs',
    'node demos/guard/run.mjs',
    'npx agentci init --help',
  ]);
  const file = join(workspace, report);
  expect(existsSync(file) && readFileSync(file, 'utf8').startsWith('<!')).toBe(true);
});

test('--live without a key names the missing key and runs nothing', async () => {
  const { code, text } = await node(['demos/run.mjs', 'rag', '--live'], workspace, {
    OPENAI_API_KEY: '',
  });
  expect({ code, text }).toEqual({
    code: 2,
    text: '--live asks a real model: set OPENAI_API_KEY\n',
  });
});
