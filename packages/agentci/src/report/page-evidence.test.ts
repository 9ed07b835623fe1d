import type { CheckStatus } from '@agentci/results';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { pageEvidence } from './page-evidence.ts';

const lines = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
const run = (statuses: readonly CheckStatus[]) =>
  runOf(
    statuses.map((status, i) => ({
      id: `q${i}`,
      status,
      correctness: [checkOf('correctness.exact_match', status)],
    })),
  );

test('each query gets its own traces, by id or by text', async () => {
  const cwd = tempDir({
    'traces.jsonl': lines([
      { id: 'q1', query: 'x', answer: 'one', tool_calls: [{ name: 'b' }] },
      { query: 'question of q0', answer: 'nought', tool_calls: [{ name: 'a' }] },
      { id: 'nobody', query: 'nobody asked', answer: '' },
    ]),
  });
  const { byQuery, notes } = await pageEvidence(run(['pass', 'fail', 'pass']), {
    traces: `${cwd}/traces.jsonl`,
    cwd,
  });
  expect([...byQuery].map(([id, { traces }]) => [id, traces[0]?.tools]).sort()).toEqual([
    ['q0', ['a']],
    ['q1', ['b']],
  ]);
  expect(notes).toEqual([]);
});

test('without room for all, passed queries are dropped and the page reports it', async () => {
  const statuses: CheckStatus[] = ['pass', 'pass', 'pass', 'fail'];
  const cwd = tempDir({
    'traces.jsonl': lines(
      statuses.map((_, i) => ({
        id: `q${i}`,
        answer: 'x',
        tool_calls: [{ name: 't', result: 'y'.repeat(900) }],
      })),
    ),
  });
  const { byQuery, notes } = await pageEvidence(run(statuses), {
    traces: `${cwd}/traces.jsonl`,
    cwd,
    maxCharacters: 3000,
  });
  expect([...byQuery.keys()]).toEqual(['q0', 'q3']);
  expect(notes).toEqual([expect.stringContaining('2 of 4')]);
});

test.each([
  { when: 'they are not available', traces: undefined, notes: 1 },
  { when: 'they cannot be read', traces: 'no json\nat all\n', notes: 1 },
])('a page without recordings reports it when $when', async ({ traces, notes }) => {
  const cwd = tempDir(traces === undefined ? {} : { 'traces.jsonl': traces });
  const evidence = await pageEvidence(run(['pass']), {
    traces: traces && `${cwd}/traces.jsonl`,
    cwd,
  });
  expect(evidence.byQuery.size).toBe(0);
  expect(evidence.notes).toHaveLength(notes);
});

test('of several runs the one is shown whose answer was judged', async () => {
  const base = run(['fail']);
  const [result] = base.results;
  const repeated = {
    ...base,
    results: [
      {
        ...result!,
        answer: 'bad',
        runs: [
          { run: 1, status: 'pass' as const, answer: 'good', messages: [] },
          { run: 2, status: 'fail' as const, answer: 'bad', messages: [] },
        ],
      },
    ],
  };
  const cwd = tempDir({
    'traces.jsonl': lines([
      { id: 'q0', answer: 'good' },
      { id: 'q0', answer: 'bad' },
    ]),
  });
  const { byQuery } = await pageEvidence(repeated, { traces: `${cwd}/traces.jsonl`, cwd });
  expect(byQuery.get('q0')).toMatchObject({ shown: 1, traces: [{}, {}] });
});
