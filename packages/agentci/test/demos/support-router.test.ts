import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { checksOf } from '@agentci/results';
import { cliProcess } from '@agentci/testing/cli';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { beforeAll, describe, expect, test } from 'vitest';

const cwd = join(workspaceCopy(), 'demos', 'support-router');

describe('the support desk', () => {
  let run: RunResult;
  beforeAll(async () => {
    const { stdout } = await cliProcess(['test', '--judge', 'recorded', '-w', '1', '-f', 'json'], {
      cwd,
    });
    run = JSON.parse(stdout) as RunResult;
  });
  const tagged = (tag: string) => run.results.filter(({ tags }) => tags.includes(tag));

  test('passes all of at least 32 queries without a key', () => {
    expect(run.summary).toMatchObject({
      failed: 0,
      warnings: 0,
      errors: 0,
      skipped: 0,
      exit_code: 0,
    });
    expect(run.summary.total).toBeGreaterThanOrEqual(32);
  });

  test.each([
    'routing',
    'tools',
    'ambiguous',
    'edge',
    'guardrail',
    'off-topic',
    'pii',
    'policy',
    'isolation',
  ])('covers %s', (tag) => {
    expect(tagged(tag).length).toBeGreaterThan(0);
  });

  test('hands over for real: every query that is not stopped made one handoff', () => {
    const made = run.results.filter(({ tags }) => !tags.includes('guardrail'));
    for (const { id, path } of made)
      expect({ id, ...(path.details.handoffs as object) }).toMatchObject({
        actual: [expect.any(String)],
      });
  });

  test('stops what guardrails catch before a model is asked', () => {
    expect(
      tagged('guardrail').map(
        ({ cost }) => (cost.details.actual as { llm_calls: number }).llm_calls,
      ),
    ).toEqual([0, 0, 0, 0]);
  });

  test('measures privacy and policy on every query', () => {
    for (const result of run.results) {
      const ids = checksOf(result).map(({ id }) => id);
      expect(ids).toEqual(
        expect.arrayContaining([
          'metric.pii_leakage',
          'policy.sequence_valid',
          'policy.args_valid',
        ]),
      );
    }
  });
});
