import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FailureGroup, MutationResult } from '@agentci/results';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const SPEC = `version: 1
agent: shop
queries:
  - {id: where, query: Where?, correctness: {expected_in_answer: [bakery]}, path: {forbidden_tools: ["delete_*"]}}
`;
const GOOD = {
  id: 'where',
  query: 'Where?',
  answer: 'Behind the bakery.',
  tool_calls: [{ name: 'find', args: { street: 'Mill Lane' }, result: 'x' }],
};

test('survivors on the console, reports in files, the score as a gate', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': SPEC, 'traces.jsonl': `${JSON.stringify(GOOD)}\n` });
  const outcome = await cli(
    ['mutate', '--traces', 'traces.jsonl', '-o', 'm.html', '-o', 'm.md', '-o', 'm.json'],
    {
      cwd,
    },
  );
  expect(outcome.code).toBe(0);
  expect(outcome.stdout).toContain('where  agentci_spec.yaml:4:5');
  expect(outcome.stdout).toContain('path: {expected_tools: [find]}');
  expect(outcome.stdout).not.toContain('delete_all` that the good run');
  const result = JSON.parse(readFileSync(join(cwd, 'm.json'), 'utf8')) as MutationResult;
  expect(result).toMatchObject({ schema: 'agentci.mutation/1', recordings: 1 });
  expect(readFileSync(join(cwd, 'm.html'), 'utf8')).toContain('expected_tools: [find]');
  const gate = await cli(['mutate', '--traces', 'traces.jsonl', '--min-score', '95%'], { cwd });
  expect(gate).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('failed: at least 95 % must be noticed'),
  });
  const again = await cli(
    ['mutate', '--traces', 'traces.jsonl', '--json', '--seed', '3', '--budget', '6'],
    { cwd },
  );
  const same = await cli(
    ['mutate', '--traces', 'traces.jsonl', '--json', '--seed', '3', '--budget', '6'],
    { cwd },
  );
  expect(again.stdout).toBe(same.stdout);
});

test.each([
  [['mutate'], 'TRACES_MISSING'],
  [['mutate', '--traces', 'gone'], 'TRACES_MISSING'],
  [['mutate', '--traces', 'traces.jsonl', '--operators', 'drop-cal'], 'Did you mean "drop-call"?'],
  [['mutate', '--traces', 'traces.jsonl', '-o', 'm.pdf'], 'OPTION_INVALID'],
  [['mutate', '--traces', 'traces.jsonl', '--run', 'latest'], 'OPTIONS_CONFLICT'],
])('reports a mistake: %j', async (args, says) => {
  const cwd = tempDir({ 'agentci_spec.yaml': SPEC, 'traces.jsonl': `${JSON.stringify(GOOD)}\n` });
  expect(await cli(args, { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(says),
  });
});

const many = (answer: (i: number) => string) => {
  const ids = Array.from({ length: 6 }, (_, i) => `q${i}`);
  const queries = ids.map(
    (id) => `  - {id: ${id}, query: ${id}, correctness: {expected_in_answer: [word ${id}]}}\n`,
  );
  return {
    'agentci_spec.yaml': `version: 1\nagent: shop\nqueries:\n${queries.join('')}`,
    'traces.jsonl': ids
      .map((id, i) => `${JSON.stringify({ id, query: id, answer: answer(i) })}\n`)
      .join(''),
  };
};

test('many failures are shown by cause, in reports and by agentci failures, and known from run to run', async () => {
  const cwd = tempDir(many((i) => (i === 0 ? 'word q0' : 'no idea')));
  const first = await cli(
    ['test', '--traces', 'traces.jsonl', '-f', 'console', '-f', 'markdown=s.md'],
    { cwd },
  );
  expect(first.stdout).toContain(
    '5 queries: correctness.expected_in_answer: found 0 of 1 expected term; missing: … (q1, q2, q3, q4 and 1 more)',
  );
  expect(readFileSync(join(cwd, 's.md'), 'utf8')).toContain('Failures by cause');
  await cli(['test', '--traces', 'traces.jsonl'], { cwd });
  const { code, stdout } = await cli(['failures'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /5 failures in 1 group[\s\S]*known[\s\S]*run again: agentci test --traces traces.jsonl --ids q1,q2,q3,q4,q5/,
  );
  const { groups } = JSON.parse((await cli(['failures', '--json'], { cwd })).stdout) as {
    groups: FailureGroup[];
  };
  expect(groups).toMatchObject([{ queries: ['q1', 'q2', 'q3', 'q4', 'q5'], since: 'known' }]);
  const rerun = await cli(['test', '--traces', 'traces.jsonl', '--ids', 'q1,q2'], { cwd });
  expect(rerun.stdout).toContain('2 queries: 2 failed');
  expect(await cli(['test', '--traces', 'traces.jsonl', '--ids', 'q1,qq'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('OPTION_INVALID'),
  });
});
