import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunPlan } from '@agentci/run';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const project = () =>
  tempDir({
    'agentci_spec.yaml': `agent: demo
runner: {module: ./agent.mjs}
matrix: {model: [a, b]}
queries:
  - {id: later, query: not yet, skip: no data, correctness: {expected_in_answer: [x]}}
  - id: city
    query: "about {{city}}"
    runs: 3
    rows: [{city: Paris}, {city: Rome}]
    correctness:
      expected_in_answer: ["{{city}}"]
      llm_judge: [{rule: It is polite}, {rule: It is short}]
`,
    'agent.mjs':
      "export default (query, { vars }) => ({ answer: 'about ' + vars.city, cost_usd: vars.model === 'a' ? 0.5 : 0.25 });\n",
  });
const plan = async (cwd: string, ...args: string[]): Promise<RunPlan> =>
  JSON.parse((await cli(['test', '--dry-run', '--json', ...args], { cwd })).stdout) as RunPlan;

test('lists what would run, and runs nothing', async () => {
  const cwd = project();
  const { code, stdout } = await cli(['test', '--dry-run'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('city-1 (model=a)  about Paris  × 3');
  expect(stdout).toContain('later (model=a)  not yet  (skipped: no data)');
  expect(stdout).toContain('would run: 3 queries in 2 cells, 12 runs in all, 2 skipped');
  expect(stdout).toContain('agent: 12 calls, cost not known');
  expect(stdout).toContain('judge: at most 24 calls, cost not known');
  expect(existsSync(join(cwd, '.agentci'))).toBe(false);
});

test('estimates the cost from the last run, case by case', async () => {
  const cwd = project();
  await cli(['test', '--judge', 'off', '--filter', 'city-1'], { cwd });
  const { summary, cases } = await plan(cwd, '--judge', 'off');
  expect(cases.find(({ id, cell }) => id === 'city-1' && cell?.model === 'a')).toMatchObject({
    runs: 3,
    cost_usd: 0.5,
  });
  // Three runs each: 0.5 and 0.25 are known, the two cases of Rome count as average.
  expect(summary).toMatchObject({
    cost_usd: 3 * (0.5 + 0.25 + 0.375 + 0.375),
    guessed_runs: 6,
    judge_calls: 0,
  });
});

test('knows the selection, and recordings cost nothing', async () => {
  const cwd = project();
  const one = await plan(cwd, '--cell', 'model=b', '--filter', 'city-2', '-n', '1');
  expect(one.cases).toMatchObject([{ id: 'city-2', cell: { model: 'b' }, runs: 1 }]);
  expect((await plan(cwd, '--traces', 'agent.mjs')).summary).toMatchObject({
    agent_calls: 0,
    cost_usd: 0,
  });
  const { code, stderr } = await cli(['test', '--dry-run', '--filter', 'nowhere'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('NOTHING_SELECTED');
});
