import { isSampled } from '@agentci/judge';
import { parseSpec } from '@agentci/spec';
import { scriptedModel, verdictText } from '@agentci/testing/scripted-judge';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

const ids = Array.from({ length: 20 }, (_, i) => `q${i}`);
const suiteOf = (url: string, config = '') =>
  parseSpec(
    `version: 1
agent: demo
judge_config: {model: "openai:gpt-4o-mini", base_url: "${url}", ensemble: {models: ["openai:gpt-4o-mini", "openai:gpt-4o"]}${config}}
queries:
${ids.map((id) => `  - {id: ${id}, query: "ask ${id}", correctness: {llm_judge: [{rule: is polite}]}}`).join('\n')}
`,
  ).suite!;
const traces = ids.map((id) => simpleTrace({ id, query: `ask ${id}`, answer: `answer ${id}` }));
const run = (url: string, options: Partial<RunOptions> = {}) =>
  runSuite({
    suite: suiteOf(url),
    traces,
    env: { OPENAI_API_KEY: 'k' },
    judgeCacheDir: tempDir(),
    ...options,
  });

describe('--sample-ensemble', () => {
  test('is a seeded, stable share of the queries', () => {
    const sampled = (seed: number, share = 0.2) =>
      ids.filter((id) => isSampled(id, { share, seed }));
    expect(sampled(1)).toEqual(sampled(1));
    expect(sampled(1)).not.toEqual(sampled(2));
    expect(sampled(0, 0)).toEqual([]);
    expect(sampled(0, 1)).toEqual(ids);
    const many = Array.from({ length: 5000 }, (_, i) => `x${i}`);
    expect(many.filter((id) => isSampled(id, { share: 0.2, seed: 7 })).length / 5000).toBeCloseTo(
      0.2,
      1,
    );
    for (const id of sampled(1)) expect(sampled(1, 0.5)).toContain(id);
  });

  test('asks the ensemble about those and one judge about the rest, and says which', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    const result = await run(server.url, { sampleEnsemble: 0.2, seed: 1 });
    const sampled = ids.filter((id) => isSampled(id, { share: 0.2, seed: 1 }));
    expect(sampled.length).toBeGreaterThan(0);
    const byEnsemble = result.results.filter((query) =>
      (query.correctness.details.judge as { ensemble: boolean }[]).some(({ ensemble }) => ensemble),
    );
    expect(byEnsemble.map(({ id }) => id)).toEqual(sampled);
    expect(server.requests).toHaveLength(ids.length + sampled.length);
    expect(result.notices.join()).toContain(`${sampled.length} of 20 queries`);
  });

  test('without an ensemble in the spec is a mistake', async () => {
    const suite = parseSpec(
      'agent: a\nqueries: [{query: q, correctness: {llm_judge: [{rule: r}]}}]\n',
    ).suite!;
    await expect(runSuite({ suite, traces: [], sampleEnsemble: 0.2 })).rejects.toMatchObject({
      code: 'OPTIONS_CONFLICT',
    });
  });
});

describe('a run', () => {
  test('reports what judging cost, apart from the agent', async () => {
    const server = await scriptedModel([
      { text: verdictText(4), usage: { input: 100, output: 10 } },
    ]);
    const judgeCacheDir = tempDir();
    const first = await run(server.url, { judgeCacheDir });
    expect(first.judge).toMatchObject({
      calls: 20,
      cached: 0,
      input_tokens: 2000,
      output_tokens: 200,
    });
    expect(first.judge.cost_usd).toBeGreaterThan(0);
    const second = await run(server.url, { judgeCacheDir, env: {}, judge: 'recorded' });
    expect(second).toMatchObject({
      judge: { calls: 0, cached: 20, cost_usd: 0 },
      summary: { passed: 20, exit_code: 0 },
    });
    expect(server.requests).toHaveLength(20);
  });

  test('stops before --max-cost: unjudged queries are errors', async () => {
    const server = await scriptedModel([
      { text: verdictText(4), usage: { input: 1000, output: 100 } },
    ]);
    const result = await run(server.url, { maxCostUsd: 0.003, workers: 1 });
    expect(result.judge.cost_usd).toBeLessThanOrEqual(0.003);
    expect(server.requests.length).toBeGreaterThan(0);
    expect(result.summary.errors).toBe(20 - server.requests.length);
    expect(result.summary.exit_code).toBe(2);
  });

  test('without key and without stored verdicts says once what to set', async () => {
    const result = await run('http://127.0.0.1:9/v1', { env: {} });
    expect(result.summary).toMatchObject({ errors: 20, exit_code: 2 });
    expect(result.notices.filter((notice) => notice.includes('OPENAI_API_KEY'))).toHaveLength(1);
    expect(result.judge).toEqual({ calls: 0, cost_usd: null });
  });

  test('interrupted while judging: the query stays open, nothing is written down for it', async () => {
    const interrupt = new AbortController();
    const server = await scriptedModel(() => {
      setTimeout(() => interrupt.abort(), 20);
      return { text: verdictText(4), delayMs: 5000 };
    });
    const recorded: string[] = [];
    const sink = { record: ({ id }: { id: string }) => void recorded.push(id) };
    const result = await run(server.url, { signal: interrupt.signal, sink, workers: 1 });
    expect(result.interrupted).toBe(true);
    expect(recorded).toEqual([]);
  });

  test('with the judge off says how many rubrics nobody judged', async () => {
    const off = await run('http://127.0.0.1:9/v1', { judge: 'off' });
    expect(off.notices).toContain('20 rubric checks were not judged: the judge is off');
    const suite = parseSpec(
      'agent: a\nqueries: [{query: q, correctness: {expected_in_answer: [x]}}]\n',
    ).suite!;
    expect((await runSuite({ suite, traces: [], judge: 'off' })).notices).toEqual([]);
  });

  test("takes a judge of the caller's own", async () => {
    const judge = { ask: async () => ({ rationale: 'r', score: 1, label: 'fail' as const }) };
    expect((await run('http://127.0.0.1:9/v1', { judge })).summary).toMatchObject({
      failed: 20,
      exit_code: 1,
    });
  });
});
