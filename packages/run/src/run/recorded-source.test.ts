import { join } from 'node:path';
import { parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { expect, test } from 'vitest';
import type { RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

const check = 'correctness: {expected_in_answer: [ok]}';
const suiteOf = (queries: string, head = '') => ({
  ...parseSpec(`agent: demo\n${head}queries:\n${queries}`).suite!,
  dir: tempDir(),
});
const THREE = ['a', 'b', 'c'].map((id) => `  - {id: ${id}, query: ask ${id}, ${check}}\n`).join('');
const recording = (id: string, answer = 'ok') => simpleTrace({ id, query: `ask ${id}`, answer });
const statuses = ({ results }: { results: { id: string; status: string }[] }) =>
  results.map(({ id, status }) => `${id} ${status}`);
const run = (options: Partial<RunOptions>) => runSuite({ suite: suiteOf(THREE), ...options });

test.each([
  { from: 'a list', traces: () => [recording('a', 'no'), recording('b')] },
  {
    from: 'a file',
    traces: () => {
      const lines = [
        { id: 'a', query: 'ask a', answer: 'no' },
        { id: 'b', query: 'ask b', answer: 'ok' },
      ].map((line) => JSON.stringify(line));
      return join(tempDir({ 't.jsonl': lines.join('\n') }), 't.jsonl');
    },
  },
])(
  '--fail-fast judges nothing of $from after the first failure, and misses no recording',
  async ({ traces }) => {
    const judged: string[] = [];
    const result = await run({
      traces: traces(),
      failFast: true,
      sink: { record: ({ id }) => void judged.push(id) },
    });
    expect(statuses(result)).toEqual(['a fail', 'b skip', 'c skip']);
    expect(judged).toEqual(['a']);
    expect(result.summary.exit_code).toBe(1);
  },
);

test('only the selected queries are judged', async () => {
  const judged: string[] = [];
  const traces = [recording('a'), recording('b'), recording('c')];
  expect(
    statuses(await run({ traces, ids: ['b'], sink: { record: ({ id }) => void judged.push(id) } })),
  ).toEqual(['b pass']);
  expect(judged).toEqual(['b']);
});

test('a resumed run judges the missing queries and measures all', async () => {
  const suite = suiteOf(THREE, 'metrics: {privacy_budget: {min: 0.1, total_budget: 1}}\n');
  const traces = ['a', 'b', 'c'].map((id) =>
    simpleTrace({ id, query: `ask ${id}`, answer: 'ok', metadata: { privacy_epsilon: 0.25 } }),
  );
  const whole = await runSuite({ suite, traces });
  const judged: string[] = [];
  const resumed = await runSuite({
    suite,
    traces,
    resumed: [{ id: 'a', run: 1, result: whole.results[0]! }],
    sink: { record: ({ id }) => void judged.push(id) },
  });
  expect(judged).toEqual(['b', 'c']);
  expect(resumed.metrics?.privacy_budget?.detail).toMatchObject({ total_spent: 0.75, traces: 3 });
  expect(resumed.metrics).toEqual(whole.metrics);
});

test('no more recordings are judged at a time than there are workers', async () => {
  let asked = 0;
  let most = 0;
  const queries = Array.from(
    { length: 12 },
    (_, i) => `  - {id: q${i}, query: ask q${i}, correctness: {llm_judge: [{rule: r}]}}\n`,
  );
  const result = await runSuite({
    suite: suiteOf(queries.join('')),
    traces: Array.from({ length: 12 }, (_, i) => recording(`q${i}`)),
    workers: 3,
    judge: {
      ask: async () => {
        most = Math.max(most, ++asked);
        await new Promise((resolve) => setTimeout(resolve, 5));
        asked--;
        return { rationale: 'r', score: 5, label: 'pass' };
      },
    },
  });
  expect(most).toBe(3);
  expect(result.summary.passed).toBe(12);
});

test('files that are not recordings are named', async () => {
  const dir = tempDir({ 'notes.txt': 'mine', 'a.json': { id: 'a', query: 'ask a', answer: 'ok' } });
  const { notices } = await run({ traces: dir, ids: ['a'] });
  expect(notices).toEqual([expect.stringMatching(/^skipped, not recordings: .*notes\.txt$/)]);
});

test.each([
  { strays: 1, says: '1 recording matches no query: s0' },
  { strays: 5, says: '5 recordings match no query: s0, s1, s2, s3, s4' },
  { strays: 7, says: '7 recordings match no query: s0, s1, s2, s3, s4 and 2 more' },
])('$strays recordings nobody asked for are counted, and a few named', async ({ strays, says }) => {
  const traces = [recording('a'), ...Array.from({ length: strays }, (_, i) => recording(`s${i}`))];
  expect((await run({ traces, ids: ['a'] })).notices).toEqual([says]);
});

test('recordings of one query beyond its runs are counted with those that fit', async () => {
  const { results } = await run({
    traces: [recording('a'), recording('a'), recording('a')],
    ids: ['a'],
  });
  expect(results[0]?.error?.message).toBe(
    '3 recordings match this query but runs is 1; too many: a, a',
  );
});

test('a query of several runs says which of them has no recording', async () => {
  const { results } = await run({ traces: [recording('a')], ids: ['a'], runs: 2 });
  expect(results[0]?.error?.message).toBe('no recording for run 2 of 2');
});
