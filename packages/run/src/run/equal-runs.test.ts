import { DEFAULT_METRICS } from '@agentci/metrics';
import { parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { runSuite } from './run-suite.ts';

const priced = (query: string) =>
  simpleTrace({
    query,
    answer: 'ok',
    llm_calls: [{ model: 'gpt-4o-mini', input_tokens: 1000, output_tokens: 100 }],
  });
const whole = (query: string) =>
  simpleTrace({
    query,
    answer: 'ok',
    model: 'gpt-4o-mini',
    input_tokens: 1000,
    output_tokens: 100,
  });

test.each([
  { what: 'calls with tokens', record: priced },
  { what: 'a run with tokens and no calls', record: whole },
])('equal runs cost the same, whichever query has a cost block: $what', async ({ record }) => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  for (const withCost of [[], ['c'], ids]) {
    const queries = ids.map(
      (id) =>
        `{id: ${id}, query: ${id}, correctness: {expected_in_answer: [ok]}${withCost.includes(id) ? ', cost: {max_llm_calls: 5}' : ''}}`,
    );
    const { suite } = parseSpec(`version: 1\nagent: a\nqueries: [${queries.join(', ')}]`, {
      file: 's.yaml',
    });
    const { results } = await runSuite({ suite: suite!, traces: ids.map(record), workers: 1 });
    const costs = results.map(
      ({ cost }) => (cost.details.actual as { cost_usd: number | null }).cost_usd,
    );
    expect(new Set(costs)).toEqual(new Set([0.00021]));
  }
});

test("loading the agent's module is not the agent's time but a separate number", async () => {
  const agent =
    'await new Promise((done) => setTimeout(done, 400)); export default async () => "ok";';
  const dir = tempDir({ 'agent.mjs': agent });
  const text = `version: 1
agent: a
runner: {module: agent.mjs}
queries: [{id: a, query: a, correctness: {expected_in_answer: [ok]}}, {id: b, query: b, cost: {max_latency_ms: 200}}]`;
  const { suite } = parseSpec(text, { file: `${dir}/spec.yaml` });
  const { results, summary } = await runSuite({ suite: suite!, workers: 1, env: process.env });
  const clocks = results.map(
    ({ cost }) => cost.details.actual as { latency_ms: number; cold_start_ms?: number },
  );
  expect(clocks[0]!.latency_ms).toBeLessThan(200);
  expect(clocks[0]!.cold_start_ms).toBeGreaterThan(350);
  expect(clocks[1]!.cold_start_ms).toBeUndefined();
  expect(summary.exit_code).toBe(0);
});

describe('metrics by other names', () => {
  const measured = async (metrics: string) => {
    const text = `version: 1\nagent: a\nqueries: [{id: q, query: q, expected_output: ok, context: [ok], metrics: ${metrics}}]`;
    const { suite, diagnostics } = parseSpec(text, { file: 's.yaml' });
    expect(diagnostics).toEqual([]);
    const record = {
      query: 'q',
      answer: 'ok',
      tool_calls: [{ name: 't', result: 'x' }],
      cost_usd: 1,
      total_tokens: 2,
    };
    const { results } = await runSuite({ suite: suite!, traces: [simpleTrace(record)] });
    return results[0]!;
  };

  test('default is the default set, and metrics listed next to it count as listed', async () => {
    const { metrics, cost } = await measured('[default, {cost: 0.5}]');
    expect(Object.keys(metrics).sort()).toEqual([...DEFAULT_METRICS].sort());
    expect(cost.checks).toMatchObject([{ id: 'metric.cost', status: 'warn' }]);
  });

  test('a composite is the mean of its parts, with a bound like any metric', async () => {
    const { metrics, correctness } = await measured(
      '[{composite: {of: [answer_correctness, tool_success], min: 0.9}}]',
    );
    expect(metrics.composite).toMatchObject({ value: 1 });
    expect(correctness.checks).toMatchObject([{ id: 'metric.composite', status: 'pass' }]);
  });
});
