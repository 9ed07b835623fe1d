import { checkOf, runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { beforeTools } from './before-tools.ts';

const run = runOf(
  ['q0', 'q1'].map((id) => ({
    id,
    status: 'pass' as const,
    correctness: [checkOf('correctness.exact_match', 'pass')],
  })),
);

test('the tools of each query of the run before are read from its recordings', async () => {
  const cwd = tempDir({
    'traces.jsonl': [
      { id: 'q1', answer: 'x', tool_calls: [{ name: 'b' }, { name: 'c' }] },
      { id: 'q0', answer: 'x', tool_calls: [] },
      { id: 'other', answer: 'x', tool_calls: [{ name: 'z' }] },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  });
  expect(Object.fromEntries(await beforeTools(run, `${cwd}/traces.jsonl`))).toEqual({
    q1: ['b', 'c'],
    q0: [],
  });
});

test('recordings that cannot be read leave the tools unknown', async () => {
  const cwd = tempDir({ 'traces.jsonl': 'no json\nat all\n' });
  expect((await beforeTools(run, `${cwd}/traces.jsonl`)).size).toBe(0);
});
