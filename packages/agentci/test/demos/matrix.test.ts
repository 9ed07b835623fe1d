import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { expect, test } from 'vitest';

const root = workspaceCopy();
const run = (...args: string[]) =>
  spawnSync(process.execPath, ['demos/matrix/run.mjs', ...args], { cwd: root, encoding: 'utf8' });

test('two models and two prompts: the small model with the plain prompt is significantly worse', {
  timeout: 60_000,
}, () => {
  const { status, stdout } = run('-f', 'json');
  const { cells = [], cell_comparisons = [], checks } = JSON.parse(stdout) as RunResult;
  expect(cells.map(({ cell, passed }) => `${cell.model} ${cell.prompt} ${passed}`)).toEqual([
    'gpt-4o prompts/plain.md 12',
    'gpt-4o prompts/careful.md 12',
    'gpt-4o-mini prompts/plain.md 4',
    'gpt-4o-mini prompts/careful.md 12',
  ]);
  expect(cell_comparisons.map(({ verdict }) => verdict)).toEqual([
    'inconclusive',
    'worse',
    'inconclusive',
  ]);
  expect(checks.map(({ status: verdict }) => verdict)).toEqual(['skip', 'fail', 'skip']);
  const [reference, , , cheap] = cells.map(({ cost_usd }) => cost_usd ?? 0);
  expect(cheap! * 10).toBeLessThan(reference!);
  expect(status).toBe(1);
});

test('the README types what works', { timeout: 60_000 }, () => {
  const readme = readFileSync(join(root, 'demos/matrix/README.md'), 'utf8');
  expect(readme).toContain('node demos/matrix/run.mjs\n');
  expect(run('--cell', 'model=gpt-4o-mini', '--dry-run').stdout).toContain(
    'would run: 12 queries in 2 cells',
  );
});
