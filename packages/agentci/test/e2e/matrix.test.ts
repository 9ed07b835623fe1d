import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

/** Reads its cell from `vars`. Model b answers the odd questions wrong. */
const agent = `
export default async (query, { vars, id, run }) => {
  const isWrong = vars.model === 'b' && Number(vars.n) % 2 === 1;
  return {
    answer: isWrong ? 'no idea' : 'the answer is ' + vars.word + ' in ' + vars.prompt,
    tool_calls: [],
    cost_usd: vars.model === 'a' ? 0.02 : 0.01,
  };
};
`;
const cases = (rows: number): string =>
  ['id,n,word', ...Array.from({ length: rows }, (_, i) => `case-${i},${i},"word, ${i}"`)].join(
    '\r\n',
  );
const spec = `agent: demo
runner: {module: ./agent.mjs}
matrix:
  model: [a, b]
  prompt: [x.md, y.md]
queries:
  - query: "Question {{n}}: {{word}}?"
    rows: cases.csv
    correctness: {expected_in_answer: ["{{word}}"]}
    path: {max_tool_calls: "{{n}}"}
`;
const project = (rows = 4, text = spec) =>
  tempDir({ 'agentci_spec.yaml': text, 'agent.mjs': agent, 'cases.csv': cases(rows) });
const runOf = (stdout: string): RunResult => JSON.parse(stdout) as RunResult;
const names = (run: RunResult): string[] =>
  run.results.map(
    ({ id, cell, status }) => `${id} ${Object.values(cell ?? {}).join(' ')} ${status}`,
  );

describe('a matrix over rows', () => {
  test('runs every row once per cell, and says which cell lost', async () => {
    const cwd = project();
    const { code, stdout } = await cli(['test', '-f', 'json'], { cwd });
    const run = runOf(stdout);
    expect(code).toBe(1);
    expect(run.summary).toMatchObject({ total: 16, passed: 12, failed: 4 });
    expect(names(run).slice(4, 8)).toEqual([
      'case-1 a x.md pass',
      'case-1 a y.md pass',
      'case-1 b x.md fail',
      'case-1 b y.md fail',
    ]);
    expect(run.cells?.map(({ pass_rate, cost_usd }) => [pass_rate, cost_usd])).toEqual([
      [1, 0.08],
      [1, 0.08],
      [0.5, 0.04],
      [0.5, 0.04],
    ]);
    expect(run.cell_comparisons?.[1]).toMatchObject({
      cell: { model: 'b', prompt: 'x.md' },
      reference: { model: 'a', prompt: 'x.md' },
      pairs: 4,
      lost: 2,
      won: 0,
      verdict: 'inconclusive',
    });
  });

  test('--failed runs the failed cells alone, --cell selects, eval --run judges each trace in its own cell', async () => {
    const cwd = project();
    const first = runOf((await cli(['test', '-f', 'json'], { cwd })).stdout);
    const again = runOf((await cli(['test', '--failed', '-f', 'json'], { cwd })).stdout);
    expect(names(again)).toEqual(names(first).filter((name) => name.endsWith('fail')));

    const judged = await cli(['eval', '--run', first.run_id, '-f', 'json'], { cwd });
    expect(names(runOf(judged.stdout))).toEqual(names(first));

    const or = runOf(
      (await cli(['test', '--cell', 'model=b', '--cell', 'prompt=x.md', '-f', 'json'], { cwd }))
        .stdout,
    );
    expect(new Set(or.results.map(({ cell }) => JSON.stringify(cell)))).toEqual(
      new Set(['{"model":"b","prompt":"x.md"}']),
    );
    const both = runOf(
      (await cli(['test', '--cell', 'model=b', '--cell', 'model=a', '-f', 'json'], { cwd })).stdout,
    );
    expect(both.results).toHaveLength(16);
  });

  test('rows × cells × repeats, filters on row ids', async () => {
    const cwd = project(3);
    const { stdout } = await cli(['test', '-n', '2', '--filter', 'case-1', '-f', 'json'], { cwd });
    const run = runOf(stdout);
    expect(run.results.map(({ id, runs }) => `${id} ${runs?.length}`)).toEqual(
      Array(4).fill('case-1 2'),
    );
    expect(run.cell_comparisons?.[1]).toMatchObject({ pairs: 2, lost: 2 });
  });

  test('reports name the cell', async () => {
    const cwd = project();
    const { stdout } = await cli(
      [
        'test',
        '-f',
        'junit=out.xml',
        '-f',
        'markdown=out.md',
        '-f',
        'csv=out.csv',
        '-f',
        'html=out.html',
        '-f',
        'sarif=out.sarif',
        '-f',
        'prometheus=out.prom',
        '-f',
        'console',
      ],
      { cwd },
    );
    const file = (name: string): string => readFileSync(join(cwd, name), 'utf8');
    expect(stdout).toContain('case-1 (model=b, prompt=x.md)');
    expect(stdout).toContain('by cell:');
    expect(stdout).toMatch(/model=b, prompt=x\.md\s+50 % \(2 of 4\)/);
    expect(file('out.xml')).toContain('name="case-1 (model=b, prompt=x.md)"');
    expect(file('out.xml')).toContain('<property name="cell.model" value="b"/>');
    expect(file('out.md')).toContain('| cell | pass rate |');
    expect(file('out.csv')).toContain('"model=b, prompt=x.md"');
    expect(file('out.sarif')).toContain('"model": "b"');
    expect(file('out.prom')).toContain('cell="model=b, prompt=x.md"');
    expect(file('out.html')).toContain('"cell_comparisons"');
  });

  test('a baseline is that of one cell', async () => {
    const cwd = project(2);
    await cli(['test'], { cwd });
    expect((await cli(['save', '--version', 'v1', '--cell', 'model=a'], { cwd })).code).toBe(0);
    const files = readdirSync(join(cwd, 'baselines/demo/v1'));
    expect(files).toHaveLength(4);
    expect(files[0]).toMatch(/^case-0@a-x\.md-[0-9a-f]{6}\.json$/);
    const run = runOf((await cli(['test', '-f', 'json'], { cwd })).stdout);
    expect(run.results.map(({ cell, baseline }) => `${cell?.model} ${baseline?.version}`)).toEqual([
      'a v1',
      'a v1',
      'b undefined',
      'b undefined',
      'a v1',
      'a v1',
      'b undefined',
      'b undefined',
    ]);
  });

  test('a run that was interrupted is resumed cell by cell', async () => {
    const cwd = project(2);
    const first = runOf((await cli(['test', '-f', 'json'], { cwd })).stdout);
    const dir = join(cwd, '.agentci/runs', first.run_id);
    rmSync(join(dir, 'run.json'));
    const journal = join(dir, 'results.jsonl');
    const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
    writeFileSync(journal, `${lines.slice(0, 5).join('\n')}\n`);
    const traces = join(dir, 'traces/traces.jsonl');
    writeFileSync(
      traces,
      `${readFileSync(traces, 'utf8').trimEnd().split('\n').slice(0, 4).join('\n')}\n`,
    );
    const resumed = runOf((await cli(['test', '--resume', '-f', 'json'], { cwd })).stdout);
    expect(names(resumed)).toEqual(names(first));
    expect(readFileSync(journal, 'utf8').trimEnd().split('\n')).toHaveLength(lines.length);
  });
});

describe('recordings and a matrix', () => {
  const recording = (id: string, cell?: unknown) =>
    JSON.stringify({
      id,
      query: 'q',
      answer: 'word, 0',
      tool_calls: [],
      ...(cell ? { metadata: { cell } } : {}),
    });
  const text = `agent: demo
matrix: {model: [a, b]}
queries:
  - {id: one, query: "q {{model}}", correctness: {expected_in_answer: [word]}}
`;

  test('a recording that names its cell is judged there', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': text,
      't.jsonl': `${recording('one', { model: 'b' })}\n${recording('one', { model: 'a' })}\n`,
    });
    const run = runOf((await cli(['eval', '--traces', 't.jsonl', '-f', 'json'], { cwd })).stdout);
    expect(names(run)).toEqual(['one a pass', 'one b pass']);
  });

  test('one that names none is nobody’s, with the way out; --cell says which it is of', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': text, 't.jsonl': `${recording('one')}\n` });
    const { code, stdout } = await cli(['eval', '--traces', 't.jsonl', '-f', 'json'], { cwd });
    expect(code).toBe(2);
    expect(runOf(stdout).results[0]?.error?.message).toContain('metadata.cell');
    const one = await cli(['eval', '--traces', 't.jsonl', '--cell', 'model=b', '-f', 'json'], {
      cwd,
    });
    expect(names(runOf(one.stdout))).toEqual(['one b pass']);
    const other = tempDir({
      'agentci_spec.yaml': text,
      't.jsonl': `${recording('one', { model: 'zz' })}\n`,
    });
    expect(
      (await cli(['eval', '--traces', 't.jsonl', '--cell', 'model=b'], { cwd: other })).code,
    ).toBe(2);
  });
});

describe('baseline_cell', () => {
  const withBaseline = spec.replace(
    'queries:',
    'baseline_cell: {model: a, prompt: x.md}\nqueries:',
  );

  test('a significant loss fails the run, an open question does not', async () => {
    const run = runOf(
      (await cli(['test', '-f', 'json'], { cwd: project(14, withBaseline) })).stdout,
    );
    expect(run.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'matrix.baseline_cell skip',
      'matrix.baseline_cell fail',
      'matrix.baseline_cell fail',
    ]);
    expect(run.checks[1]?.message).toMatch(
      /model=b, prompt=x\.md against model=a, prompt=x\.md: worse, -50\.0 points/,
    );
  });
});

describe('--cell says what it does not know', () => {
  test.each([
    { cell: 'modl=a', says: 'Did you mean "model"?' },
    { cell: 'model=c', says: 'Its values are: a, b' },
    { cell: 'model', says: '--cell takes name=value' },
  ])('$cell', async ({ cell, says }) => {
    const { code, stderr } = await cli(['test', '--cell', cell], { cwd: project() });
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });
});

describe('skip', () => {
  const skipping = (skips: string) => `agent: demo
runner: {command: [node, -e, "console.log('fine')"]}
queries:
  - {id: a, query: q, skip: the shop is closed, correctness: {expected_in_answer: [fine]}}
  - {id: b, query: r, ${skips}correctness: {expected_in_answer: [fine]}}
`;

  test('a query with a reason is not run and is counted', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': skipping('') });
    const { code, stdout } = await cli(['test', '-f', 'json', '-f', 'junit=out.xml'], { cwd });
    const run = runOf(stdout);
    expect(code).toBe(0);
    expect(run.summary).toMatchObject({ total: 2, passed: 1, skipped: 1 });
    expect(run.results[0]).toMatchObject({
      status: 'skip',
      skip: { reason: 'the shop is closed' },
      answer: null,
    });
    expect(readFileSync(join(cwd, 'out.xml'), 'utf8')).toContain(
      '<skipped message="the shop is closed"/>',
    );
    expect((await cli(['test'], { cwd })).stdout).toContain('skipped: the shop is closed');
  });

  test('a run of skips alone proves nothing', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': skipping('skip: later, ') });
    const { code, stdout } = await cli(['test'], { cwd });
    expect(code).toBe(2);
    expect(stdout).toContain('nothing was checked');
  });
});
