import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { pageTrends } from '../../src/view/page-trends.ts';
import { cli } from '../support/cli.ts';

/** BAD lists failing queries with their cell, such as "by". */
const AGENT = `export default async (query, { id, vars }) => ({
  answer: (process.env.BAD ?? '').split(',').includes(id + (vars.m ?? '')) ? 'bad' : 'ok',
  tool_calls: [],
  cost_usd: vars.m === 'y' ? 0.03 : 0.01,
});
`;
const QUERIES = `queries:
  - {id: a, query: a, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
`;
const RUNNER = 'agent: shop\nrunner: {module: ./agent.mjs}\n';
const SPEC = `${RUNNER}matrix: {m: [x, y]}\n${QUERIES}`;
const project = (spec = SPEC): string => tempDir({ 'agentci_spec.yaml': spec, 'agent.mjs': AGENT });

async function play(cwd: string, runs: readonly (readonly string[])[]): Promise<string[]> {
  for (const [bad = '', ...args] of runs)
    await cli(['test', '--quiet', ...args], { cwd, env: { BAD: bad } });
  const { stdout } = await cli(['history', '--json'], { cwd });
  return (JSON.parse(stdout) as { runs: { id: string }[] }).runs.map(({ id }) => id);
}
const history = (cwd: string, ...args: string[]) => cli(['history', ...args], { cwd });
const json = async (cwd: string, ...args: string[]) =>
  JSON.parse((await history(cwd, ...args, '--json')).stdout);

const FIXED_ELSEWHERE = [[''], ['by'], ['', '--cell', 'm=x']];
const ONE_CELL_AT_A_TIME = [
  [''],
  ['by'],
  ['', '--ids', 'b', '--cell', 'm=x'],
  ['by', '--ids', 'b', '--cell', 'm=y'],
];

describe('a query of a spec with a matrix', () => {
  test.each([
    { runs: FIXED_ELSEWHERE, inARow: 1 },
    { runs: ONE_CELL_AT_A_TIME, inARow: 2 },
  ])('first-bad answers for each cell: $runs', async ({ runs, inARow }) => {
    const cwd = project();
    const [first, second] = await play(cwd, runs);
    const { code, stdout } = await history(cwd, 'first-bad', 'b');
    expect(stdout).toMatch(
      /^"b" has 2 cells; --cell name=value chooses\nb \(m=x\) passed in every run/,
    );
    expect(stdout).toMatch(new RegExp(`\nb \\(m=y\\) fails since run ${second} `));
    expect(stdout).not.toContain('flaky');
    expect(code).toBe(0);
    const found = await json(cwd, 'first-bad', 'b');
    expect(found).toMatchObject({
      query: 'b',
      cells: [
        { cell: { m: 'x' }, verdict: 'good' },
        {
          cell: { m: 'y' },
          verdict: 'bad',
          runs: inARow,
          flips: 0,
          first: { run: second },
          good: { run: first },
        },
      ],
    });
    expect(found).not.toHaveProperty('verdict');
  });

  test('trend has points, costs and rates for each cell', async () => {
    const cwd = project();
    await play(cwd, FIXED_ELSEWHERE);
    const { cells } = await json(cwd, 'trend', 'b');
    const shown = cells.map(
      ({ cell, points }: { cell: object; points: { status: string; usd: number }[] }) => [
        cell,
        ...points.map(({ status, usd }) => `${status} ${usd}`),
      ],
    );
    expect(shown).toEqual([
      [{ m: 'x' }, 'pass 0.01', 'pass 0.01', 'pass 0.01'],
      [{ m: 'y' }, 'pass 0.03', 'fail 0.03'],
    ]);
    const { stdout } = await history(cwd, 'trend', 'b');
    expect(stdout).toContain('\nb (m=x)\nrun ');
    expect(stdout).toMatch(/b \(m=x\) over 3 runs: 100 %/);
    expect(stdout).toMatch(/b \(m=y\) over 2 runs: 50 %/);
  });

  test.each([
    { cell: ['m=y'], verdict: 'bad' },
    { cell: ['m=x'], verdict: 'good' },
  ])('--cell $cell chooses one, which is $verdict', async ({ cell, verdict }) => {
    const cwd = project();
    await play(cwd, FIXED_ELSEWHERE);
    const args = cell.flatMap((each) => ['--cell', each]);
    expect(await json(cwd, 'first-bad', 'b', ...args)).toMatchObject({
      verdict,
      cell: { m: cell[0]!.slice(2) },
    });
    expect((await history(cwd, 'first-bad', 'b', ...args)).stdout).toMatch(/^b \(m=.\) /);
    expect(await json(cwd, 'trend', 'b', ...args)).toMatchObject({
      cell: { m: cell[0]!.slice(2) },
      query: 'b',
    });
    expect(
      (await json(cwd, 'first-bad', 'b', '--cell', 'm=x', '--cell', 'm=y')).cells,
    ).toHaveLength(2);
  });

  test.each([
    {
      args: ['first-bad', 'b', '--cell', 'm=z'],
      says: 'OPTION_INVALID',
      hint: 'Its values are: x, y',
    },
    {
      args: ['trend', 'b', '--cell', 'mm=x'],
      says: 'the matrix has no variable "mm"',
      hint: 'Did you mean "m"?',
    },
    { args: ['trend', 'b', '--cell', 'x'], says: '--cell takes name=value, not "x"', hint: '' },
    {
      args: ['trend', '--cell', 'm=x'],
      says: '--cell is about one query, and none is named',
      hint: 'trend QUERY',
    },
    {
      args: ['flaky', '--cell', 'm=x'],
      says: 'history flaky does not take --cell',
      hint: 'trend, first-bad',
    },
  ])('what --cell cannot choose is refused: $args', async ({ args, says, hint }) => {
    const cwd = project();
    await play(cwd, [['']]);
    const { code, stdout, stderr } = await history(cwd, ...args);
    expect(stderr).toContain(says);
    expect(stderr).toContain(hint);
    expect([code, stdout]).toEqual([2, '']);
  });

  test('the trends of view name the failing cell, for any order of variables in the spec', async () => {
    const cwd = project(SPEC.replace('{m: [x, y]}', '{m: [x, y], n: [1]}'));
    const [, second] = await play(cwd, ONE_CELL_AT_A_TIME);
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      SPEC.replace('{m: [x, y]}', '{n: [1], m: [x, y]}'),
    );
    await play(cwd, [['by']]);
    const place = { named: undefined, checkedOut: undefined };
    expect(pageTrends(join(cwd, '.agentci', 'history'), 'shop', place)?.failing).toMatchObject([
      { name: 'b (n=1, m=y)', first: { run: second }, runs: 3, flips: 0 },
    ]);
    expect((await json(cwd, 'first-bad', 'b')).cells).toHaveLength(2);
  });

  test('is kept apart from itself before there was a matrix', async () => {
    const cwd = project(RUNNER + QUERIES);
    await play(cwd, [['b']]);
    expect(await json(cwd, 'first-bad', 'b')).toMatchObject({ verdict: 'bad', runs: 1 });
    expect(await json(cwd, 'first-bad', 'b')).not.toHaveProperty('cell');
    expect((await history(cwd, 'first-bad', 'b', '--cell', 'm=x')).stderr).toContain(
      '--cell: no run in the history has cells of the query "b" [OPTION_INVALID]',
    );
    writeFileSync(join(cwd, 'agentci_spec.yaml'), SPEC);
    await play(cwd, [['']]);
    expect((await json(cwd, 'first-bad', 'b')).cells).toMatchObject([
      { cell: null, verdict: 'bad' },
      { cell: { m: 'x' }, verdict: 'good' },
      { cell: { m: 'y' }, verdict: 'good' },
    ]);
    expect((await history(cwd, 'first-bad', 'b')).stdout).toContain('b (no cell) fails since');
  });
});
