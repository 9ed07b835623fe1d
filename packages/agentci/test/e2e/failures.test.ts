import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const SPEC = `version: 1
agent: shop
queries:
  - {id: a, query: a, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {is_json: true}}
`;
const recording = (a: string, b: string): string =>
  `${JSON.stringify({ id: 'a', query: 'a', answer: a })}\n${JSON.stringify({ id: 'b', query: 'b', answer: b })}\n`;
const GOOD = recording('ok', '{}');

interface Told {
  readonly groups: { check: string; since: string; rerun: string }[];
  readonly gone: { check: string }[];
  readonly not_run: { check: string }[];
}

const failuresIn = async (cwd: string, ...args: string[]): Promise<Told> =>
  JSON.parse((await cli(['failures', '--json', ...args], { cwd })).stdout) as Told;

test('a partial run leaves the others unknown, and names fixed groups as gone', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml': SPEC,
    'bad.jsonl': recording('no', 'no'),
    'good.jsonl': GOOD,
  });
  await cli(['test', '--traces', 'bad.jsonl'], { cwd });
  await cli(['test', '--traces', 'good.jsonl', '--ids', 'b'], { cwd });
  const some = await failuresIn(cwd);
  expect(some).toMatchObject({
    groups: [],
    gone: [{ check: 'correctness.is_json' }],
    not_run: [{ check: 'correctness.expected_in_answer' }],
  });
  await cli(['test', '--traces', 'bad.jsonl', '--ids', 'a'], { cwd });
  expect((await failuresIn(cwd)).groups).toMatchObject([
    { check: 'correctness.expected_in_answer', since: 'known' },
  ]);
  await cli(['test', '--traces', 'good.jsonl'], { cwd });
  const text = (await cli(['failures'], { cwd })).stdout;
  expect(text).toMatch(
    /nothing failed\n\ngone since .*:\n.*correctness\.expected_in_answer: found 0 of 1/,
  );
});

test('the runs of another spec in the folder are not taken', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml': SPEC,
    'other.yaml': SPEC.replace('is_json: true', 'expected_in_answer: [x]'),
    'bad.jsonl': recording('ok', 'no'),
  });
  await cli(['test', '--traces', 'bad.jsonl'], { cwd });
  await cli(['test', '-c', 'other.yaml', '--traces', 'bad.jsonl'], { cwd });
  expect((await failuresIn(cwd)).groups).toMatchObject([{ check: 'correctness.is_json' }]);
  expect((await failuresIn(cwd, '-c', 'other.yaml')).groups).toMatchObject([
    {
      check: 'correctness.expected_in_answer',
      rerun: 'agentci test -c other.yaml --traces bad.jsonl --ids b',
    },
  ]);
});

test('failures and mutate report a spec without runs', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': SPEC, 'other.yaml': SPEC, 'good.jsonl': GOOD });
  await cli(['test', '--traces', 'good.jsonl'], { cwd });
  for (const args of [['failures'], ['mutate', '--run', 'latest']])
    expect(await cli([...args, '-c', 'other.yaml'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('other.yaml has not been run here yet [RUN_MISSING]'),
    });
});

test('the command that runs a group again works as printed, and stays short', async () => {
  const ids = Array.from({ length: 30 }, (_, i) => `q${i}`);
  const cwd = tempDir({
    'agentci_spec.yaml': `version: 1\nagent: shop\nqueries:\n${ids.map((id) => `  - {id: ${id}, query: ${id}, correctness: {is_json: true}}\n`).join('')}`,
    'my runs.jsonl': ids
      .map((id) => `${JSON.stringify({ id, query: id, answer: 'no' })}\n`)
      .join(''),
  });
  await cli(['test', '--traces', 'my runs.jsonl'], { cwd });
  const [group] = (await failuresIn(cwd)).groups;
  expect(group!.rerun).toBe("agentci test --traces 'my runs.jsonl' --failed");
  const again = await cli(['test', '--traces', 'my runs.jsonl', '--failed'], { cwd });
  expect(again.code).toBe(1);
});
