import type { RunnerConfig } from '@agentci/spec';
import { parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { expect, test } from 'vitest';
import type { RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

const ONE =
  '  - {id: a, query: q1, metadata: {user: 7}, correctness: {expected_in_answer: [ok]}}\n';
const run = (options: Partial<RunOptions> & { queries?: string }) => {
  const { queries = ONE, ...rest } = options;
  const suite = { ...parseSpec(`agent: demo\nqueries:\n${queries}`).suite!, dir: tempDir() };
  return runSuite({ suite, env: process.env, ...rest });
};
const hanging: RunnerConfig = {
  kind: 'command',
  command: ['sh', '-c', 'echo waiting >&2; exec sleep 60'],
};

test.each([
  {
    who: 'the runner',
    runner: { timeoutMs: 1000, retries: 0 },
    options: {},
    says: '[INFRA] no answer within 1000 ms',
  },
  {
    who: 'the command line, before the runner',
    runner: { timeoutMs: 60_000, retries: 5 },
    options: { timeoutMs: 1000, retries: 0 },
    says: '[INFRA] no answer within 1000 ms',
  },
  {
    who: 'the runner, for tries',
    runner: { timeoutMs: 100, retries: 1 },
    options: {},
    says: '[INFRA] no answer within 100 ms (after 2 tries)',
  },
])('time and tries are those of $who', async ({ runner, options, says }) => {
  const { results } = await run({ runner: { ...hanging, ...runner }, ...options });
  expect(results[0]?.error?.message).toBe(says);
});

test('what an agent printed before it was stopped is kept', async () => {
  const { results } = await run({ runner: { ...hanging, timeoutMs: 1500, retries: 0 } });
  expect(results[0]?.error?.stderr).toBe('waiting\n');
});

test.each([
  {
    what: 'a function',
    runner: (_: string, { metadata }: { metadata: object }) => `ok ${JSON.stringify(metadata)}`,
  },
  {
    what: 'a command',
    runner: { kind: 'command', command: ['sh', '-c', 'printf "ok "; cat'] } as const,
  },
])('the metadata of a query reaches $what', async ({ runner }) => {
  expect((await run({ runner })).results[0]?.answer).toContain('{"user":7}');
});

test('a function that returns nothing is reported as such', async () => {
  const { results } = await run({ runner: () => null });
  expect(results[0]?.error).toEqual({ kind: 'agent', message: 'the agent gave null' });
});

test.each([
  { what: 'is reported', value: { answer: 'ok', cost_usd: 0.1 }, notices: [] },
  {
    what: 'is not known',
    value: 'ok',
    notices: ['--max-cost counts known costs only; the cost of 1 run is not known'],
  },
])(
  'if the cost of a run $what, --max-cost reports the part it does not count',
  async ({ value, notices }) => {
    expect((await run({ runner: () => value, maxCostUsd: 1 })).notices).toEqual(notices);
  },
);

test('costs of model calls count toward --max-cost if the run reports no total', async () => {
  const trace = simpleTrace({ query: 'q1', answer: 'ok' });
  const call = (seq: number) => ({
    id: `s${seq}`,
    seq,
    kind: 'llm' as const,
    status: 'ok' as const,
    cost: { usd: 0.3, source: 'reported' as const },
  });
  const runner = () => ({
    ...trace,
    steps: [...trace.steps, call(90), call(91)],
    captured: { ...trace.captured, llmCalls: 'full' as const },
  });
  const { results, notices } = await run({
    queries: `${ONE}${ONE.replace('id: a', 'id: b')}`,
    runner,
    workers: 1,
    maxCostUsd: 0.5,
  });
  expect(results.map(({ status }) => status)).toEqual(['pass', 'error']);
  expect(results[1]?.error?.message).toBe('not run: --max-cost 0.5 was reached ($0.6000 spent)');
  expect(notices).toEqual([]);
});

test('a cost that is computed from tokens counts towards --max-cost', async () => {
  const llm_calls = [{ model: 'gpt-4o-mini', input_tokens: 10_000_000, output_tokens: 50 }];
  const { results, notices } = await run({
    queries: `${ONE}${ONE.replace('id: a', 'id: b')}`,
    runner: () => ({ answer: 'ok', llm_calls }),
    workers: 1,
    maxCostUsd: 1,
  });
  expect(results.map(({ status }) => status)).toEqual(['pass', 'error']);
  expect(results[1]?.error?.message).toMatch(/^not run: --max-cost 1 was reached \(\$1\.50/);
  expect(notices).toEqual([]);
});

test('the next agent waits for the verdict of a judge on the last', async () => {
  const rubric = (id: string) =>
    `  - {id: ${id}, query: ${id}, correctness: {llm_judge: [{rule: is polite}]}}\n`;
  const seen: string[] = [];
  await run({
    queries: `${rubric('a')}${rubric('b')}`,
    workers: 1,
    runner: async () => 'ok',
    judge: { ask: async () => ({ rationale: 'r', score: 5, label: 'pass' }) },
    sink: {
      event: (event) => {
        if (event.type === 'run_started' || event.type === 'run_ended')
          seen.push(`${event.type} ${event.id}`);
      },
    },
  });
  expect(seen).toEqual(['run_started a', 'run_ended a', 'run_started b', 'run_ended b']);
});

test.skipIf(process.platform !== 'linux')(
  'the process of an agent is watched if a metric reads its usage',
  async () => {
    const { results } = await run({
      queries: '  - {id: a, query: q1, metrics: [resource_utilization]}\n',
      runner: {
        kind: 'command',
        command: [
          process.execPath,
          '-e',
          'const end = Date.now() + 200; while (Date.now() < end); console.log("ok")',
        ],
      },
    });
    expect(results[0]?.metrics.resource_utilization?.value).toEqual(expect.any(Number));
  },
);

test('a function may give its answer in pieces', async () => {
  const { suite } = parseSpec(
    'agent: a\nqueries: [{query: q, correctness: {expected_in_answer: [Paris]}}]',
    {
      file: 's',
    },
  );
  const { results } = await runSuite({
    suite: suite!,
    runner: async function* () {
      yield 'Par';
      yield 'is';
    },
  });
  expect(results).toMatchObject([{ status: 'pass', answer: 'Paris' }]);
});
