import { join } from 'node:path';
import { readTraces } from '@agentci/formats';
import type { ExperimentResult, RunResult } from '@agentci/results';
import { cliProcess } from '@agentci/testing/cli';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { expect, test } from 'vitest';

const cwd = join(workspaceCopy(), 'demos', 'incident');

test('three conditions come to numbers: quality of C2 and C3, times of all', async () => {
  const { code, stdout } = await cliProcess(['experiment', 'experiment.yaml', '-f', 'json'], {
    cwd,
  });
  expect(code).toBe(0);
  const { conditions, comparisons, trials } = JSON.parse(stdout) as ExperimentResult;
  expect(conditions.map(({ condition, n, failed }) => ({ condition, n, failed }))).toEqual(
    ['C1-simulated', 'C2-single-agent', 'C3-several-agents'].map((condition) => ({
      condition,
      n: 20,
      failed: 0,
    })),
  );
  // C1 proposes nothing, which is not a quality of 0.
  expect(conditions.map(({ metrics }) => metrics.dq?.n ?? null)).toEqual([null, 20, 20]);
  expect(conditions.every(({ metrics }) => metrics.t2u_s?.n === 20)).toBe(true);
  const quality = comparisons.find(({ metric }) => metric === 'dq');
  expect(quality).toMatchObject({
    a: 'C2-single-agent',
    b: 'C3-several-agents',
    better: 'C3-several-agents',
  });
  expect(new Set(trials.map(({ actions }) => actions?.join())).size).toBeGreaterThan(4);
});

test('the team talks for real, disagrees, and its metrics are measured', async () => {
  const { stdout } = await cliProcess(['test', '--judge', 'recorded', '-f', 'json'], { cwd });
  const run = JSON.parse(stdout) as RunResult;
  expect(run.summary).toMatchObject({ passed: 1, warnings: 0, exit_code: 0 });
  for (const name of [
    'decision_quality',
    'coordination_efficiency',
    'network_fault_tolerance',
    'swarm_intelligence',
  ])
    expect(run.results[0]?.metrics[name]?.value).toEqual(expect.any(Number));
  const kinds: string[][] = [];
  for await (const { steps } of readTraces(
    join(cwd, '.agentci', 'runs', run.run_id, 'traces', 'traces.jsonl'),
  ))
    kinds.push(steps.map((step) => (step.kind === 'event' ? step.name : step.kind)));
  expect(kinds).toHaveLength(5);
  for (const steps of kinds)
    expect(steps.filter((kind) => kind === 'message').length).toBeGreaterThanOrEqual(6);
  expect(kinds.some((steps) => steps.includes('conflict.raised'))).toBe(true);
});
