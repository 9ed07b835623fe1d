import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { checksOf } from '@agentci/results';
import { runPool } from '@agentci/run';
import { cliProcess } from '@agentci/testing/cli';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { beforeAll, describe, expect, test } from 'vitest';

// Tests the specs themselves: the intended check finds each of ten typical agent faults. If the
// fault makes more calls, so do the call limits. The faults are in the scripted models of the demos
// (mutations.ts). The demo tests show that the checks pass without a fault.

const workspace = workspaceCopy();

/**
 * A worker that loads an SDK costs more than it saves. If each query is a process anyway, two
 * workers are faster.
 */
const WORKERS: Readonly<Record<string, string>> = { 'dev-agent': '2' };

/**
 * Every check that did not pass, as `query check status`. The judge is off, because only sound
 * answers have stored verdicts.
 */
async function red(demo: string, mutation: string): Promise<string[]> {
  const { stdout, stderr } = await cliProcess(
    ['test', '--judge', 'off', '-w', WORKERS[demo] ?? '1', '-f', 'json'],
    {
      cwd: join(workspace, 'demos', demo),
      env: { DEMO_MUTATION: mutation },
    },
  );
  if (stdout === '') throw new Error(stderr);
  const { results, checks } = JSON.parse(stdout) as RunResult;
  const isRed = ({ status }: { status: string }): boolean => status !== 'pass' && status !== 'skip';
  return [
    ...checks.filter(isRed).map(({ id, status }) => `run ${id} ${status}`),
    ...results
      .filter(({ error }) => error !== undefined)
      .map(({ id, error }) => `${id} ${error?.message}`),
    ...results.flatMap((result) =>
      checksOf(result)
        .filter(isRed)
        .map(({ id, status }) => `${result.id} ${id} ${status}`),
    ),
  ];
}

const CASES = [
  {
    fault: 'an extra tool',
    demo: 'rag',
    mutation: 'extra-tool',
    finds: 'install path.forbidden_tools fail',
    counts: ['install path.max_tool_calls warn'],
  },
  {
    fault: 'a tripled cost',
    demo: 'rag',
    mutation: 'tripled-cost',
    finds: 'save-diff cost.max_cost_multiplier warn',
  },
  {
    fault: 'a refusal in scope',
    demo: 'rag',
    mutation: 'refused-in-scope',
    finds: 'commands correctness.expected_in_answer fail',
  },
  {
    fault: 'made-up AWS steps',
    demo: 'rag',
    mutation: 'hallucinated-aws',
    finds: 'load-balancer correctness.not_in_answer fail',
  },
  {
    fault: 'a slower path',
    demo: 'rag',
    mutation: 'slower-path',
    finds: 'no-keys cost.max_latency_ms warn',
  },
  {
    fault: 'a wrong route',
    demo: 'support-router',
    mutation: 'wrong-route',
    finds: 'features path.expected_handoff warn',
  },
  {
    fault: 'a leaked e-mail',
    demo: 'support-router',
    mutation: 'leaked-email',
    finds: 'tool-plan metric.pii_leakage fail',
  },
  {
    fault: 'no verification',
    demo: 'support-router',
    mutation: 'missing-verification',
    finds: 'forgot-password policy.sequence_valid fail',
  },
  {
    fault: 'a loop',
    demo: 'dev-agent',
    mutation: 'loop',
    finds: 'deep path.max_loops warn',
    counts: ['deep path.max_tool_calls warn', 'deep cost.max_llm_calls warn'],
  },
  {
    fault: 'an argument outside the tree',
    demo: 'dev-agent',
    mutation: 'argument-outside',
    finds: 'no-ci policy.args_valid fail',
    counts: ['no-ci path.max_tool_calls warn', 'no-ci cost.max_llm_calls warn'],
  },
];

describe('each fault turns its check red, and otherwise only counts of the calls it adds', () => {
  const found = new Map<string, string[]>();
  // Each run mostly uses one core, so two at a time do not disturb each other.
  beforeAll(async () => {
    await runPool(CASES, { workers: 2, stop: () => false }, async ({ demo, mutation }) => {
      found.set(mutation, await red(demo, mutation));
    });
  }, 240_000);

  test.each(CASES)('$fault ($demo): $finds', ({ mutation, finds, counts = [] }) => {
    expect(found.get(mutation)?.toSorted()).toEqual([finds, ...counts].toSorted());
  });
});
