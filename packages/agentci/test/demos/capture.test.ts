import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { expect, test } from 'vitest';

const root = workspaceCopy();

test('agents in Python and shell that only print their answers are checked in all three layers', {
  timeout: 60_000,
}, () => {
  const { status, stdout } = spawnSync(process.execPath, ['demos/capture/run.mjs', '-f', 'json'], {
    cwd: root,
    encoding: 'utf8',
  });
  const runs = stdout.split(/^(?=\{$)/m).map((text) => JSON.parse(text) as RunResult);
  const results = runs.flatMap((run) => run.results);
  expect(results.map(({ id, status: verdict, warnings }) => [id, verdict, warnings])).toEqual([
    ['delivered', 'pass', []],
    ['two-orders', 'pass', []],
    ['no-tool', 'pass', []],
    ['capital', 'pass', []],
  ]);
  for (const { path, cost } of results)
    expect([path.status, cost.status]).toEqual(['pass', 'pass']);
  expect(status).toBe(0);
});

test.each(['agent.py', 'agent.sh'])('%s knows nothing of AgentCI', (file) => {
  expect(readFileSync(join(root, 'demos', 'capture', file), 'utf8')).not.toMatch(/agentci/i);
});
