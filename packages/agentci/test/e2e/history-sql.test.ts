import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const { AGENTCI_DUCKDB: duckdb = '' } = process.env;

const AGENT = `export default async (query, { id }) => ({
  answer: process.env.BAD === id ? 'bad' : 'ok',
  tool_calls: [],
  cost_usd: 0.01,
  total_tokens: 5,
});
`;
const SPEC = `agent: shop
runner: {module: ./agent.mjs}
queries:
  - {id: a, query: a, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
  - {id: c, query: c, correctness: {expected_in_answer: [ok]}}
`;

function project(): string {
  const cwd = tempDir({
    'agentci_spec.yaml': SPEC,
    'other.yaml': SPEC,
    'agent.mjs': AGENT,
    'package.json': '{}',
  });
  if (duckdb !== '') symlinkSync(join(duckdb, 'node_modules'), join(cwd, 'node_modules'));
  return cwd;
}
const run = (cwd: string, ...args: string[]) => cli(['test', '--quiet', ...args], { cwd });
const history = (cwd: string, ...args: string[]) => cli(['history', ...args], { cwd });
const sql = async (cwd: string, statement: string, ...args: string[]) =>
  JSON.parse((await history(cwd, 'sql', statement, '--json', ...args)).stdout);
const listed = async (cwd: string, ...args: string[]): Promise<{ id: string; total: number }[]> =>
  JSON.parse((await history(cwd, '--json', ...args)).stdout).runs;
const inHistory = (cwd: string, name = ''): string => join(cwd, '.agentci', 'history', name);

/** Reads the rows of a Parquet file with DuckDB. */
async function parquet(cwd: string, statement: string): Promise<Record<string, unknown>[]> {
  const { DuckDBInstance } = createRequire(join(duckdb, 'package.json'))('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const file = `'${join(cwd, 'x.parquet')}'`;
  return (await connection.runAndReadAll(statement.replace('FILE', file))).getRowObjectsJS();
}

describe.skipIf(duckdb === '')(
  'with DuckDB (AGENTCI_DUCKDB names a folder where @duckdb/node-api is installed)',
  () => {
    /** Ways in which the files of a history can differ from its list of runs. */
    const CASES: readonly {
      readonly what: string;
      readonly make: (cwd: string) => Promise<void>;
    }[] = [
      {
        what: 'imports that complete runs',
        make: async (cwd) => {
          const ci = project();
          for (const at of [1, 2, 3])
            await cli(['test', '--quiet', '-f', `json=r${at}.json`], {
              cwd: ci,
              env: { AGENTCI_BRANCH: 'main' },
            });
          for (const from of ['r2.json', '.agentci/runs', '.agentci/history'])
            await history(cwd, 'import', join(ci, from));
          expect(
            readFileSync(inHistory(cwd, 'runs.jsonl'), 'utf8').trim().split('\n').length,
          ).toBeGreaterThan(3);
        },
      },
      {
        what: 'merges that were replaced',
        make: async (cwd) => {
          for (const shard of ['1/2', '2/2', '1/2']) {
            await run(cwd, '--shard', shard);
            await cli(['merge', '.agentci/runs', '--quiet'], { cwd });
          }
          expect(
            readdirSync(inHistory(cwd)).filter((name) => /^\d.*\.jsonl$/.test(name)).length,
          ).toBeGreaterThan(1);
        },
      },
      {
        what: 'lines that are JSON and not a run or a query, and queries of no run',
        make: async (cwd) => {
          await run(cwd);
          await run(cwd);
          appendFileSync(inHistory(cwd, 'runs.jsonl'), '{"id":"x","at":"nonsense"}\n');
          const [{ id } = { id: '' }] = await listed(cwd);
          cpSync(inHistory(cwd, `${id}.jsonl`), inHistory(cwd, 'x.jsonl'));
          appendFileSync(inHistory(cwd, `${id}.jsonl`), '{"id":"d","status":"good"}\n{"id":');
        },
      },
    ];

    test.each(CASES)(
      'sql, Parquet, the list and the costs count the same runs: $what',
      async ({ make }) => {
        const cwd = project();
        await make(cwd);
        const runs = await listed(cwd);
        const { periods } = JSON.parse((await history(cwd, 'cost', '--json')).stdout);
        const { usd } = periods[0];
        expect(periods).toMatchObject([{ runs: runs.length }]);
        expect((await sql(cwd, 'SELECT id FROM runs')).map(({ id }: { id: string }) => id)).toEqual(
          runs.map(({ id }) => id),
        );
        const spent = 'sum(usd + coalesce(unused_usd, 0))';
        expect(await sql(cwd, `SELECT ${spent} AS usd FROM runs WHERE NOT recorded`)).toEqual([
          { usd: expect.closeTo(usd, 9) },
        ]);
        const perRun = runs.map(({ id, total }) => ({ run: id, n: total }));
        const joined = 'FROM queries q JOIN runs r ON r.id = q.run GROUP BY 1 ORDER BY 1';
        expect(await sql(cwd, `SELECT run, count(*) AS n ${joined}`)).toEqual(perRun);
        expect(
          await sql(cwd, 'SELECT run, count(*) AS n FROM queries GROUP BY 1 ORDER BY 1'),
        ).toEqual(perRun);
        expect((await history(cwd, 'export', '--parquet', 'x.parquet')).code).toBe(0);
        expect(
          await parquet(cwd, 'SELECT run, count(*)::INT AS n FROM FILE GROUP BY 1 ORDER BY 1'),
        ).toEqual(perRun);
      },
    );

    const guide = readFileSync(
      join(import.meta.dirname, '../../../../docs/guide/history.md'),
      'utf8',
    );
    test.each(/```sql\n([^`]+)/.exec(guide)![1]!.trim().split('\n'))(
      'the guide shows a query that works: %s',
      async (line) => {
        const cwd = project();
        await run(cwd);
        expect((await sql(cwd, line)).length).toBeGreaterThan(0);
      },
    );

    test('-c limits both tables to the runs of one spec', async () => {
      const cwd = project();
      await run(cwd);
      await run(cwd, '-c', 'other.yaml', '--ids', 'a');
      const statement =
        'SELECT r.spec, count(*) AS n FROM runs r JOIN queries q ON q.run = r.id GROUP BY 1 ORDER BY 1';
      expect(await sql(cwd, statement)).toEqual([
        { spec: 'agentci_spec.yaml', n: 3 },
        { spec: 'other.yaml', n: 1 },
      ]);
      expect(await sql(cwd, statement, '-c', 'other.yaml')).toEqual([{ spec: 'other.yaml', n: 1 }]);
    });

    test('columns are the same for all runs, and a run that is not partial or recorded has false there', async () => {
      const cwd = project();
      await run(cwd);
      const columns = async (table: string): Promise<string[]> =>
        (await sql(cwd, `DESCRIBE ${table}`)).map(
          (each: Record<string, string>) => each.column_name,
        );
      const [before, queries] = [await columns('runs'), await columns('queries')];
      for (const name of [
        'order',
        'commit',
        'branch',
        'part',
        'recorded',
        'judges',
        'shard_runs',
        'unused_usd',
      ])
        expect(before).toContain(name);
      expect(queries).toEqual([
        'run',
        'id',
        'cell',
        'status',
        'decided',
        'passed',
        'usd',
        'ms',
        'tokens',
      ]);
      await cli(['eval', '--run', 'latest', '--ids', 'a'], { cwd });
      expect([await columns('runs'), await columns('queries')]).toEqual([before, queries]);
      const judged = await sql(
        cwd,
        'SELECT part, recorded, judges.run = min(id) OVER () AS judges, typeof("at") AS "at" FROM runs',
      );
      expect(judged).toEqual([
        { part: false, recorded: false, judges: null, at: 'TIMESTAMP' },
        { part: true, recorded: true, judges: true, at: 'TIMESTAMP' },
      ]);
    });

    test('in Parquet the columns of the query have its own values, and those of the run begin with run_', async () => {
      const cwd = project();
      await cli(['test', '--quiet'], { cwd, env: { BAD: 'b' } });
      await history(cwd, 'export', '--parquet', 'x.parquet');
      const rows = await parquet(
        cwd,
        'SELECT id, status, passed::INT AS passed, usd, tokens FROM FILE',
      );
      expect(rows).toEqual([
        { id: 'a', status: 'pass', passed: 1, usd: 0.01, tokens: 5 },
        { id: 'b', status: 'fail', passed: 0, usd: 0.01, tokens: 5 },
        { id: 'c', status: 'pass', passed: 1, usd: 0.01, tokens: 5 },
      ]);
      const ofRun =
        'SELECT DISTINCT run_usd, run_tokens, run_passed::INT AS run_passed, run_recorded, run_spec FROM FILE';
      expect(await parquet(cwd, ofRun)).toEqual([
        {
          run_usd: 0.03,
          run_tokens: 15,
          run_passed: 2,
          run_recorded: false,
          run_spec: 'agentci_spec.yaml',
        },
      ]);
      const names = (await parquet(cwd, 'DESCRIBE SELECT * FROM FILE')).map((each) =>
        String(each.column_name),
      );
      const own = names.filter((name) => !name.startsWith('run_'));
      expect(own).toEqual([
        'run',
        'id',
        'cell',
        'status',
        'decided',
        'passed',
        'usd',
        'ms',
        'tokens',
      ]);
      const ofRuns = (await sql(cwd, 'DESCRIBE runs')).map(
        (each: Record<string, string>) => each.column_name,
      );
      expect(names).toEqual([
        ...own,
        ...ofRuns.filter((name: string) => name !== 'id').map((name: string) => `run_${name}`),
      ]);
    });

    test.each([
      { statement: 'SELECT count(*) AS n, sum(total) AS t FROM runs', row: { n: 1, t: 3 } },
      {
        statement: 'SELECT 1.50 AS d, [2::BIGINT] AS l, {x: 3::HUGEINT} AS s',
        row: { d: 1.5, l: [2], s: { x: 3 } },
      },
      { statement: 'SELECT 9007199254740991 AS n', row: { n: 9007199254740991 } },
      { statement: 'SELECT 9007199254740993 AS n', row: { n: '9007199254740993' } },
      { statement: 'SELECT 1 AS a, 2 AS a', row: { a: 1, 'a:1': 2 } },
      { statement: "SELECT 'x' AS a, NULL AS b, true AS c", row: { a: 'x', b: null, c: true } },
    ])(
      'numbers are numbers in JSON as far as they are exact: $statement',
      async ({ statement, row }) => {
        const cwd = project();
        await run(cwd);
        expect(await sql(cwd, statement)).toEqual([row]);
        const { stdout } = await history(cwd, 'sql', statement);
        const shown = Object.values(row).map((each) =>
          typeof each === 'string' ? each : JSON.stringify(each),
        );
        expect(stdout.split('\n')[1]).toBe(shown.join('\t'));
      },
    );

    test.each([
      'DELETE FROM runs',
      'DELETE FROM runs RETURNING *',
      "INSERT INTO runs (id) VALUES ('x')",
      'UPDATE runs SET usd = 0',
      'CREATE TABLE t (a INT)',
      'DROP TABLE runs',
      'SET threads = 1',
      'PREPARE p AS DELETE FROM runs',
      "ATTACH 'z.db'",
      'INSTALL httpfs',
    ])('%s is not a query and is refused', async (statement) => {
      const cwd = project();
      await run(cwd);
      const { code, stdout, stderr } = await history(cwd, 'sql', statement);
      expect(stderr).toMatch(
        /history sql answers queries, such as SELECT, and runs no [A-Z ]+ statement/,
      );
      expect(stderr).toContain('[HISTORY_SQL]');
      expect([code, stdout]).toEqual([2, '']);
      expect(existsSync(join(cwd, 'z.db'))).toBe(false);
    });

    test.each([
      'SELECT 1; SELECT 2',
      "SELECT * FROM read_text('agentci_spec.yaml')",
      "SELECT * FROM glob('/tmp/*')",
      "COPY runs TO 'y.csv'",
      'SELEC 1',
    ])('%s is refused', async (statement) => {
      const cwd = project();
      await run(cwd);
      expect(await history(cwd, 'sql', statement)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('[HISTORY_SQL]'),
      });
      expect(existsSync(join(cwd, 'y.csv'))).toBe(false);
    });

    test('a date, a text and a line that are out of the ordinary do not keep the others from being read', async () => {
      const cwd = project();
      await run(cwd);
      const path = inHistory(cwd, 'runs.jsonl');
      const line = JSON.parse(readFileSync(path, 'utf8'));
      const odd = [
        { ...line, id: 'late', at: '+020000-01-01T00:00:00.000Z' },
        { ...line, id: 'half', agent: '\ud800\\ud800' },
        { ...line, id: 'long', models: ['m'.repeat(3_000_000)] },
      ];
      writeFileSync(path, [line, ...odd].map((each) => `${JSON.stringify(each)}\n`).join(''));
      const found = await sql(cwd, 'SELECT id, agent, len(models[1]) AS n FROM runs ORDER BY id');
      expect(found).toMatchObject([
        { id: line.id },
        { id: 'half', agent: '\ufffd\\ud800' },
        { id: 'late' },
        { id: 'long', n: 3_000_000 },
      ]);
    });

    test('runs whose queries are gone are named, and nothing is left in the temporary folder', async () => {
      const cwd = project();
      await run(cwd);
      const [{ id } = { id: '' }] = await listed(cwd);
      writeFileSync(inHistory(cwd, `${id}.jsonl`), '');
      const TMPDIR = tempDir({});
      const says = `the queries of 1 run are damaged or no longer kept, and what is missing is in no row: ${id}`;
      for (const args of [
        ['sql', 'SELECT 1'],
        ['sql', 'SELEC 1'],
        ['export', '--parquet', 'x.parquet'],
      ]) {
        const { stderr } = await cli(['history', ...args], { cwd, env: { TMPDIR } });
        if (args[1] !== 'SELEC 1') expect(stderr).toContain(says);
      }
      expect(readdirSync(TMPDIR)).toEqual([]);
    });
  },
);

test.each(['', '  ', ';', ' -- all of them', '/* none */ ;'])(
  'sql without a statement is an error: "%s"',
  async (statement) => {
    const cwd = project();
    await run(cwd);
    expect(await history(cwd, 'sql', statement)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('sql needs a statement, in quotes [OPTION_INVALID]'),
    });
  },
);
