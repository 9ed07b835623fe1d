import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { cliProcess } from '@agentci/testing/cli';
import { scriptedModel, verdictText } from '@agentci/testing/scripted-judge';
import { tempDir } from '@agentci/testing/temp-dir';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const lines = (values: readonly object[]): string =>
  `${values.map((value) => JSON.stringify(value)).join('\n')}\n`;
const ids = (count: number): string[] => Array.from({ length: count }, (_, i) => `q${i}`);
const call = (name: string, args: object = {}) => ({ name, arguments: args, result: 'ok' });

/** A small project with every decision over a whole run. */
const PROJECTS = {
  'plain queries, some failing, with unused and unreadable recordings': {
    'agentci_spec.yaml': `agent: shop
queries:
${ids(11)
  .map(
    (id) =>
      `  - {id: ${id}, query: ask ${id}, tags: [t], correctness: {expected_in_answer: [ok]}, cost: {max_llm_calls: 3}}`,
  )
  .join('\n')}
`,
    'traces.jsonl': `${lines(ids(10).map((id, i) => ({ id, query: `ask ${id}`, answer: i % 3 === 0 ? 'no' : 'ok', tool_calls: [], llm_calls: 1, latency_ms: 100 * (i + 1) })))}not json\n${lines([{ id: 'stranger', query: 'x', answer: 'y' }])}`,
  },
  'repeats, expected failures, queries that are left out': {
    'agentci_spec.yaml': `agent: shop
queries:
  - {id: a, query: a, runs: 3, min_pass_rate: 0.6, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, runs: 2, correctness: {expected_in_answer: [ok]}}
  - {id: c, query: c, xfail: known, correctness: {expected_in_answer: [ok]}}
  - {id: d, query: d, skip: later, correctness: {expected_in_answer: [ok]}}
  - {id: e, query: e, correctness: {expected_in_answer: [ok]}}
`,
    'traces.jsonl': lines(
      ['a', 'a', 'a', 'b', 'b', 'c', 'e'].map((id, i) => ({
        id,
        query: id,
        answer: [1, 4, 5].includes(i) ? 'no' : 'ok',
      })),
    ),
  },
  'rules about a tool that no recording knows, and a budget over the run': {
    'agentci_spec.yaml': `agent: shop
defaults:
  path: {rules: [{type: before, first: verify_user, then: refund}, {type: never_after, trigger: refun, forbidden: pay}]}
  metrics: {privacy_budget: {min: 0.5, total_budget: 4}}
queries:
${ids(5)
  .map((id) => `  - {id: ${id}, query: ${id}, correctness: {expected_in_answer: [ok]}}`)
  .join('\n')}
`,
    'traces.jsonl': lines(
      ids(5).map((id, i) => ({
        id,
        query: id,
        answer: 'ok',
        metadata: { privacy_epsilon: 0.5 },
        tool_calls: i === 0 ? [call('verify_user', {}), call('refund', {})] : [call('look', {})],
      })),
    ),
  },
  'a matrix with a reference cell': {
    'agentci_spec.yaml': `agent: shop
matrix: {model: [a, b]}
baseline_cell: {model: a}
queries:
${ids(9)
  .map((id) => `  - {id: ${id}, query: ${id}, correctness: {expected_in_answer: [ok]}}`)
  .join('\n')}
`,
    'traces.jsonl': lines(
      ids(9).flatMap((id) =>
        ['a', 'b'].map((model) => ({
          id,
          query: id,
          answer: model === 'a' ? 'ok' : 'no',
          metadata: { cell: { model } },
        })),
      ),
    ),
  },
} as const;

/** Runs every shard in a separate checkout and copies the run folders to the artifact path. */
async function runShards(
  cwd: string,
  count: number,
  args: readonly string[] = [],
): Promise<{ codes: (number | null)[]; dir: string }> {
  const codes: (number | null)[] = [];
  const dir = join(cwd, 'artifacts');
  for (let index = 1; index <= count; index++) {
    const { code } = await cli(
      ['test', '--traces', 'traces.jsonl', '--shard', `${index}/${count}`, ...args],
      { cwd },
    );
    codes.push(code);
    mkdirSync(join(dir, `shard-${index}`), { recursive: true });
    cpSync(join(cwd, '.agentci', 'runs'), join(dir, `shard-${index}`, 'runs'), { recursive: true });
    rmSync(join(cwd, '.agentci', 'runs'), { recursive: true, force: true });
  }
  return { codes, dir };
}

/** Removes times and run names. */
const timeless = (text: string): string =>
  text
    .replace(/"run_id": ?"[^"]*"/g, '"run_id":""')
    .replace(/"started_at": ?"[^"]*"/g, '"started_at":""')
    .replace(/"duration_ms": ?[\d.]+/g, '"duration_ms":0')
    .replace(/\d{8}-\d{9}-[0-9a-f]{4}/g, 'RUN')
    .replace(/(time|timestamp)="[^"]*"/g, '$1=""')
    .replace(/\d+(\.\d+)? m?s\b/g, 'TIME');

const FORMATS = ['json', 'junit', 'markdown', 'csv', 'sarif'];
const reports = FORMATS.flatMap((name) => ['-f', `${name}=out.${name}`]);
const readReports = (cwd: string): Record<string, string> =>
  Object.fromEntries(
    FORMATS.map((name) => [name, timeless(readFileSync(join(cwd, `out.${name}`), 'utf8'))]),
  );

describe.each(Object.entries(PROJECTS))('%s', (_, files) => {
  test.each([1, 3, 12])('in %i shards, merged, gives the reports of one run', async (count) => {
    const cwd = tempDir(files);
    const whole = await cli(['test', '--traces', 'traces.jsonl', ...reports], { cwd });
    const expected = readReports(cwd);
    rmSync(join(cwd, '.agentci'), { recursive: true });
    const { codes, dir } = await runShards(cwd, count);
    const merged = await cli(['merge', dir, ...reports], { cwd });
    expect(merged.stderr).not.toContain('could not be written');
    expect(readReports(cwd)).toEqual(expected);
    expect(merged.code).toBe(whole.code);
    expect(codes.every((code) => code === 0 || code === 1 || code === 2)).toBe(true);
  });
});

const PLAIN = PROJECTS['plain queries, some failing, with unused and unreadable recordings'];
const GOOD = {
  'agentci_spec.yaml': `agent: shop
queries:
${ids(6)
  .map((id) => `  - {id: ${id}, query: ${id}, correctness: {expected_in_answer: [ok]}}`)
  .join('\n')}
`,
  'traces.jsonl': lines(ids(6).map((id) => ({ id, query: id, answer: 'ok', latency_ms: 50 }))),
};
const folderOf = (dir: string, index: number): string => {
  const runs = join(dir, `shard-${index}`, 'runs');
  return join(runs, readdirSync(runs)[0]!);
};

test('a shard prints its normal report, says which it is, and leaves run-level gates to merge', async () => {
  const cwd = tempDir(PROJECTS['a matrix with a reference cell']);
  const { stdout, stderr } = await cli(
    ['test', '--traces', 'traces.jsonl', '--shard', '1/3', '-f', 'json'],
    { cwd },
  );
  const run = JSON.parse(stdout) as RunResult;
  expect(run.shard).toMatchObject({ index: 1, count: 3, ids: ['q0', 'q3', 'q6'] });
  expect(run.results.map(({ id }) => id)).toEqual(['q0', 'q0', 'q3', 'q3', 'q6', 'q6']);
  expect(run.checks).toMatchObject([
    { id: 'matrix.baseline_cell', status: 'skip', skip_reason: 'deferred' },
  ]);
  expect(run.cell_comparisons).toEqual([]);
  expect(stderr).toMatch(/failed/);
});

test('more shards than queries: an empty one is green with a notice, and all together are complete', async () => {
  const cwd = tempDir(GOOD);
  const { code, stdout } = await cli(['test', '--traces', 'traces.jsonl', '--shard', '8/8'], {
    cwd,
  });
  expect(stdout).toContain('shard 8 of 8: no queries are left for it');
  expect(code).toBe(0);
  rmSync(join(cwd, '.agentci'), { recursive: true });
  const { codes, dir } = await runShards(cwd, 8);
  expect(new Set(codes)).toEqual(new Set([0]));
  expect((await cli(['merge', dir], { cwd })).code).toBe(0);
});

describe('invalid merges are never green', () => {
  /** Three good shards are run once. Each case damages a copy. */
  const prepared = mkdtempSync(join(tmpdir(), 'agentci-shards-'));
  beforeAll(async () => {
    for (const [name, text] of Object.entries(GOOD)) writeFileSync(join(prepared, name), text);
    await runShards(prepared, 3);
  });
  afterAll(() => rmSync(prepared, { recursive: true, force: true }));
  const copyOfGood = (): { cwd: string; dir: string } => {
    const cwd = tempDir({});
    cpSync(prepared, cwd, { recursive: true });
    return { cwd, dir: join(cwd, 'artifacts') };
  };

  test('a missing shard is named with its queries, and the rest is written', async () => {
    const { cwd, dir } = copyOfGood();
    rmSync(join(dir, 'shard-2'), { recursive: true });
    const { code, stdout } = await cli(['merge', dir, '--out', 'merged', '-f', 'json'], { cwd });
    const run = JSON.parse(stdout) as RunResult;
    expect(code).toBe(2);
    expect(run.checks).toMatchObject([
      { id: 'shards.missing', message: 'shard 2 of 3 is missing; not judged: q1, q4' },
    ]);
    expect(run.summary).toMatchObject({ total: 6, passed: 4, errors: 2, exit_code: 2 });
    const again = await cli(
      ['test', '--traces', 'traces.jsonl', '--failed-from', 'merged', '-f', 'json'],
      { cwd },
    );
    expect((JSON.parse(again.stdout) as RunResult).results.map(({ id }) => id)).toEqual([
      'q1',
      'q4',
    ]);
  });

  test.each([
    {
      what: 'a shard that was killed',
      spoil: (dir: string) => rmSync(join(dir, 'run.json')),
      says: 'shard 2 of 3 was not finished',
      passed: 6,
    },
    {
      what: 'a run.json that is cut off',
      spoil: (dir: string) => writeFileSync(join(dir, 'run.json'), '{"schema":'),
      says: 'shard 2 is damaged',
      passed: 6,
    },
    {
      what: 'a line of the journal that is garbage',
      spoil: (dir: string) => {
        const path = join(dir, 'results.jsonl');
        const [header, first, ...rest] = readFileSync(path, 'utf8').split('\n');
        writeFileSync(path, [header, `${first!.slice(0, 40)}`, ...rest].join('\n'));
      },
      says: 'is not JSON',
      passed: 5,
    },
    {
      what: 'a result that is lost',
      spoil: (dir: string) => {
        const path = join(dir, 'results.jsonl');
        writeFileSync(
          path,
          readFileSync(path, 'utf8').split('\n').slice(0, 2).join('\n').concat('\n'),
        );
      },
      says: 'shard 2 reported total 2, but its results come to 1',
      passed: 5,
    },
    {
      what: 'a verdict that was changed',
      spoil: (dir: string) => {
        const path = join(dir, 'run.json');
        writeFileSync(path, readFileSync(path, 'utf8').replace('"failed":0', '"failed":1'));
      },
      says: 'shard 2 reported failed 1, but its results come to 0',
      passed: 6,
    },
    {
      what: 'a result of another shard’s query',
      spoil: (dir: string) => {
        const path = join(dir, 'results.jsonl');
        const line = readFileSync(path, 'utf8').split('\n')[1]!;
        appendFileSync(
          path,
          `${line.replaceAll('"q1"', '"q0"').replace('"status":"pass"', '"status":"fail"')}\n`,
        );
      },
      says: 'shard 2 has a result of "q0", which is a query of another shard',
      passed: 6,
    },
    {
      what: 'a shard.json that cannot be read',
      spoil: (dir: string) => writeFileSync(join(dir, 'shard.json'), '[]'),
      says: 'shard.json is not an agentci.shard/1 file',
      passed: 4,
    },
    {
      what: 'gates that are gone',
      spoil: (dir: string) => rmSync(join(dir, 'gates.json')),
      says: 'shard 2 is damaged',
      passed: 6,
    },
  ])('$what exits 2 and is named', async ({ spoil, says, passed }) => {
    const { cwd, dir } = copyOfGood();
    spoil(folderOf(dir, 2));
    const { code, stdout } = await cli(['merge', dir, '-f', 'json'], { cwd });
    const run = JSON.parse(stdout) as RunResult;
    expect(code).toBe(2);
    expect(run.checks.map(({ message }) => message).join('\n')).toContain(says);
    expect(run.summary).toMatchObject({ total: 6, passed, exit_code: 2 });
  });

  test('a killed shard does not decide expected failures, and repeated ones are judged correctly', async () => {
    const spec = GOOD['agentci_spec.yaml'].replace(/\{id: q[01],/g, '$& xfail: known,');
    const recorded = GOOD['traces.jsonl'].replace('"q1","answer":"ok"', '"q1","answer":"no"');
    const cwd = tempDir({ 'agentci_spec.yaml': spec, 'traces.jsonl': recorded });
    const { dir } = await runShards(cwd, 2);
    for (const index of [1, 2]) rmSync(join(folderOf(dir, index), 'run.json'));
    const merged = await cli(['merge', dir, '--out', 'merged', '-f', 'json'], { cwd });
    const statuses = (stdout: string) =>
      (JSON.parse(stdout) as RunResult).results.map(({ id, status }) => `${id} ${status}`);
    expect(merged.code).toBe(2);
    expect(statuses(merged.stdout)).toEqual([
      'q0 error',
      'q1 error',
      'q2 pass',
      'q3 pass',
      'q4 pass',
      'q5 pass',
    ]);
    const again = await cli(
      ['eval', '--traces', 'traces.jsonl', '--failed-from', 'merged', '-f', 'json'],
      { cwd },
    );
    expect([again.code, ...statuses(again.stdout)]).toEqual([1, 'q0 fail', 'q1 skip']);
  });

  test('shards of another spec, plan or version are refused', async () => {
    const cwd = tempDir(GOOD);
    const { dir } = await runShards(cwd, 2);
    const other = tempDir({
      ...GOOD,
      'agentci_spec.yaml': GOOD['agentci_spec.yaml'].replace('[ok]', '[o]'),
    });
    const { dir: otherSpec } = await runShards(other, 2);
    expect(
      (await cli(['merge', folderOf(dir, 1), folderOf(otherSpec, 2)], { cwd })).stderr,
    ).toContain('MERGE_MISMATCH');
    const more = tempDir(GOOD);
    const { dir: otherPlan } = await runShards(more, 3);
    expect(
      (await cli(['merge', folderOf(dir, 1), folderOf(otherPlan, 2)], { cwd })).stderr,
    ).toContain('MERGE_MISMATCH');
    const file = join(folderOf(dir, 2), 'shard.json');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/"version":"[^"]*"/, '"version":"0.0.1"'),
    );
    expect(await cli(['merge', dir], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('MERGE_MISMATCH'),
    });
    expect(existsSync(join(cwd, '.agentci', 'runs'))).toBe(false);
  });
});

test('shards of different commits are refused, unless a newer attempt replaces the older one', async () => {
  const cwd = tempDir(GOOD);
  const shard = (which: string, commit: string) =>
    cli(['test', '--traces', 'traces.jsonl', '--shard', which], {
      cwd,
      env: { AGENTCI_COMMIT: commit },
    });
  const [old, now] = ['a'.repeat(40), 'b'.repeat(40)];
  await shard('1/2', old);
  await shard('2/2', now);
  const refused = await cli(['merge', '.agentci/runs'], { cwd });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('MERGE_MISMATCH') });
  expect(refused.stderr).toMatch(/shard 1 is of aaaaaaa .*shard 2 is of bbbbbbb/);
  await shard('1/2', now);
  expect((await cli(['merge', '.agentci/runs'], { cwd })).code).toBe(0);
});

test('a shard that was run twice counts once, as it came out the second time', async () => {
  const cwd = tempDir(GOOD);
  const { dir } = await runShards(cwd, 2);
  writeFileSync(
    join(cwd, 'traces.jsonl'),
    GOOD['traces.jsonl'].replace('"answer":"ok"', '"answer":"no"'),
  );
  await cli(['test', '--traces', 'traces.jsonl', '--shard', '1/2'], { cwd });
  const { code, stdout } = await cli(['merge', dir, '.agentci/runs', '-f', 'json'], { cwd });
  const run = JSON.parse(stdout) as RunResult;
  expect(code).toBe(1);
  expect(run.summary).toMatchObject({ total: 6, failed: 1 });
  expect(run.notices).toContain('shard 1 was given 2 times: the newest attempt counts');
});

test('the cost of a replaced shard attempt is reported and counted', async () => {
  const queries = ids(4).map(
    (id) => `  - {id: ${id}, query: ${id}, correctness: {expected_in_answer: [ok]}}\n`,
  );
  const cwd = tempDir({
    'agentci_spec.yaml': `agent: paid\nrunner: {module: ./agent.mjs}\nqueries:\n${queries.join('')}`,
    'agent.mjs': `export default () => ({ answer: 'ok', cost_usd: 0.01, tool_calls: [] });\n`,
  });
  for (const which of ['1/2', '2/2', '1/2']) await cli(['test', '--shard', which], { cwd });
  const { code, stdout } = await cli(['merge', '.agentci/runs', '-f', 'json'], { cwd });
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as RunResult).notices).toContain(
    '$0.0200 was spent on attempts that do not count',
  );
  const costs = await cli(['history', 'cost', '--json'], { cwd });
  expect(JSON.parse(costs.stdout)).toMatchObject({ periods: [{ runs: 1, usd: 0.06 }] });
});

test('shards planned from merged timings take equal time, and are the same on every machine', async () => {
  const times = [900, 10, 10, 800, 10, 10, 700, 600, 10, 10, 500, 400];
  const cwd = tempDir({
    'agentci_spec.yaml': `agent: shop\nqueries:\n${times.map((_, i) => `  - {id: q${i}, query: q${i}, correctness: {expected_in_answer: [ok]}}`).join('\n')}\n`,
    'traces.jsonl': lines(
      times.map((latency_ms, i) => ({ id: `q${i}`, query: `q${i}`, answer: 'ok', latency_ms })),
    ),
  });
  const { dir } = await runShards(cwd, 3);
  await cli(['merge', dir, '-f', 'json=x.json'], { cwd });
  const timings = JSON.parse(readFileSync(join(cwd, '.agentci', 'timings.json'), 'utf8')) as {
    ms: Record<string, number>;
  };
  expect(timings.ms.q3).toBe(800);
  const loads: number[] = [];
  for (let index = 1; index <= 3; index++) {
    const { stdout } = await cli(
      ['test', '--traces', 'traces.jsonl', '--shard', `${index}/3`, '-f', 'json'],
      { cwd },
    );
    const { shard } = JSON.parse(stdout) as RunResult;
    loads.push(shard!.ids.reduce((sum, id) => sum + timings.ms[id]!, 0));
  }
  const ideal = loads.reduce((sum, load) => sum + load, 0) / 3;
  expect(Math.max(...loads)).toBeLessThanOrEqual(1.1 * ideal);
});

test('a shard that is started again after the merge of its CI run fits the others, though the timings are new', async () => {
  const times = [900, 10, 10, 800, 10, 10, 700, 600, 10, 10, 500, 400];
  const cwd = tempDir({
    'agentci_spec.yaml': `agent: shop\nqueries:\n${times.map((_, i) => `  - {id: q${i}, query: q${i}, correctness: {expected_in_answer: [ok]}}`).join('\n')}\n`,
    'traces.jsonl': lines(
      times.map((latency_ms, i) => ({ id: `q${i}`, query: `q${i}`, answer: 'ok', latency_ms })),
    ),
  });
  const run = async (args: string[], id: string) => cli(args, { cwd, env: { GITHUB_RUN_ID: id } });
  const shard = async (index: number, id: string) => {
    const { stdout } = await run(
      ['test', '--traces', 'traces.jsonl', '--shard', `${index}/3`, '-f', 'json'],
      id,
    );
    return (JSON.parse(stdout) as RunResult).shard!.ids;
  };
  const first = [await shard(1, '7'), await shard(2, '7'), await shard(3, '7')];
  for (let attempt = 1; attempt <= 3; attempt++) {
    expect(await run(['merge', '.agentci/runs', '--out', `merged-${attempt}`], '7')).toMatchObject({
      code: 0,
    });
    expect(await shard(2, '7')).toEqual(first[1]);
  }
  // The next run plans with these timings, and does not need these shards.
  const next = [await shard(1, '8'), await shard(2, '8'), await shard(3, '8')];
  expect(next).not.toEqual(first);
  expect(await run(['merge', '.agentci/runs'], '8')).toMatchObject({ code: 0 });
});

test('a live shard that was killed is resumed with its own plan, and with no other', async () => {
  const cwd = tempDir({
    'agent.mjs': `import { existsSync } from 'node:fs';
export default async (query) => { if (query === 'q2' && !existsSync('go')) { await new Promise((done) => setTimeout(done, 300)); process.kill(process.pid, 'SIGKILL'); } return 'ok'; };`,
    'agentci_spec.yaml': `agent: shop\nrunner: {module: ./agent.mjs}\nqueries:\n${ids(6)
      .map((id) => `  - {id: ${id}, query: ${id}, correctness: {expected_in_answer: [ok]}}`)
      .join('\n')}\n`,
  });
  await cliProcess(['test', '--shard', '1/2', '-w', '1'], { cwd });
  writeFileSync(join(cwd, 'go'), '');
  expect(await cli(['test', '--shard', '2/2', '--resume'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('OPTIONS_CONFLICT'),
  });
  mkdirSync(join(cwd, '.agentci'), { recursive: true });
  writeFileSync(
    join(cwd, '.agentci', 'timings.json'),
    JSON.stringify({ schema: 'agentci.timings/1', ms: { q0: 9000, q1: 10 } }),
  );
  // Newer timings do not change the shard's plan. A manually changed plan is rejected.
  const folder = join(cwd, '.agentci', 'runs', readdirSync(join(cwd, '.agentci', 'runs'))[0]!);
  const plan = readFileSync(join(folder, 'plan.json'), 'utf8');
  writeFileSync(join(folder, 'plan.json'), plan.replaceAll('"q0"', '"q1"'));
  expect(await cli(['test', '--resume'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('RESUME_REFUSED'),
  });
  writeFileSync(join(folder, 'plan.json'), plan);
  const { code, stdout } = await cli(['test', '--resume', '-f', 'json'], { cwd });
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as RunResult).shard).toMatchObject({
    index: 1,
    ids: ['q0', 'q2', 'q4'],
  });
  rmSync(join(cwd, '.agentci', 'timings.json'));
  expect((await cli(['test', '--shard', '2/2'], { cwd })).code).toBe(0);
  expect((await cli(['merge', '.agentci/runs'], { cwd })).code).toBe(0);
});

test('a shard that cannot be stored is not green: the stored run is all that merge gets', async () => {
  const cwd = tempDir({ ...GOOD, '.agentci/runs': 'not a folder' });
  expect(await cli(['test', '--traces', 'traces.jsonl', '--shard', '1/2'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('RUN_NOT_WRITTEN'),
  });
});

test.each(['0/2', '3/2', 'x', '1/0', '1/100000'])('--shard %s is refused', async (shard) => {
  const cwd = tempDir(PLAIN);
  expect((await cli(['test', '--traces', 'traces.jsonl', '--shard', shard], { cwd })).code).toBe(2);
});

describe('after a merge', () => {
  const times = [900, 10, 10, 800, 10, 10];
  const TIMED = {
    'agentci_spec.yaml': `agent: shop\nqueries:\n${times.map((_, i) => `  - {id: q${i}, query: q${i}, correctness: {expected_in_answer: [ok]}}`).join('\n')}\n`,
    'traces.jsonl': lines(
      times.map((latency_ms, i) => ({
        id: `q${i}`,
        query: `q${i}`,
        answer: i === 1 ? 'no' : 'ok',
        latency_ms,
      })),
    ),
  };
  const shard = (cwd: string, which: string, ...args: string[]) =>
    cli(['eval', '--traces', 'traces.jsonl', '--shard', which, ...args], { cwd });

  test('a shard that is run again in the same folder keeps the plan of the others, though merge wrote timings', async () => {
    const cwd = tempDir(TIMED);
    for (const which of ['1/2', '2/2']) await shard(cwd, which);
    await cli(['merge', '.agentci/runs'], { cwd });
    for (const which of ['1/2', '2/2']) {
      await shard(cwd, which);
      const { code, stdout, stderr } = await cli(['merge', '.agentci/runs', '--json'], { cwd });
      expect(code, stderr).toBe(1);
      expect((JSON.parse(stdout) as RunResult).notices.join()).toContain(
        'the newest attempt counts',
      );
    }
    // Explicit timings are used, and another selection of queries gives another plan.
    const ids = async (...args: string[]) =>
      (JSON.parse((await shard(cwd, '1/2', '--json', ...args)).stdout) as RunResult).shard!.ids;
    const kept = await ids();
    expect(await ids('--weights', '.agentci/timings.json')).not.toEqual(kept);
    expect(await ids('--ids', 'q0,q3')).toHaveLength(1);
  });

  test('the command that it prints for what failed works', async () => {
    const cwd = tempDir(TIMED);
    for (const which of ['1/2', '2/2']) await shard(cwd, which);
    const { stdout } = await cli(['merge', '.agentci/runs', '--out', 'merged'], { cwd });
    const [, again] = /run only these again: (?:npx )?agentci (.*)/.exec(stdout)!;
    expect(again).toBe('eval --traces traces.jsonl --failed-from merged');
    const { code, stdout: json } = await cli([...again!.split(' '), '--json'], { cwd });
    expect(code).toBe(1);
    expect((JSON.parse(json) as RunResult).results.map(({ id }) => id)).toEqual(['q1']);
  });

  /** CI artifacts: the run folder of each shard as a zip file. */
  const zipped = (cwd: string, run: string, name: string, level: 0 | 6 = 6): void => {
    const dir = join(cwd, '.agentci', 'runs', run);
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    const entries = files.map(({ parentPath, name: file }) => {
      const path = join(parentPath, file);
      return [`runs/${run}/${path.slice(dir.length + 1)}`, new Uint8Array(readFileSync(path))];
    });
    mkdirSync(join(cwd, dirname(name)), { recursive: true });
    writeFileSync(join(cwd, name), zipSync(Object.fromEntries(entries), { level }));
  };

  test('artifacts may stay zipped, for merge and for history import', async () => {
    const cwd = tempDir(TIMED);
    for (const which of ['1/2', '2/2']) await shard(cwd, which);
    const [first, second] = readdirSync(join(cwd, '.agentci', 'runs')).sort();
    zipped(cwd, first!, 'artifacts/s1.zip');
    zipped(cwd, second!, 'artifacts/s2.zip');
    for (const given of [['artifacts/s1.zip', 'artifacts/s2.zip'], ['artifacts']]) {
      const { code, stdout, stderr } = await cli(['merge', ...given, '--json'], { cwd });
      expect(code, stderr).toBe(1);
      expect((JSON.parse(stdout) as RunResult).summary).toMatchObject({ total: 6, failed: 1 });
    }
    const merged = readdirSync(join(cwd, '.agentci', 'runs')).find(
      (id) => id !== first && id !== second,
    )!;
    zipped(cwd, merged, 'whole.zip');
    rmSync(join(cwd, '.agentci', 'history'), { recursive: true });
    expect((await cli(['history', 'import', 'whole.zip'], { cwd })).stdout).toBe(
      '1 run imported, 0 known already\n',
    );
  });

  test('unreadable timings are rejected by a shard, and rewritten by merge', async () => {
    const cwd = tempDir(TIMED);
    const timings = join(cwd, '.agentci', 'timings.json');
    for (const which of ['1/2', '2/2']) await shard(cwd, which);
    writeFileSync(timings, '{broken');
    expect(await shard(cwd, '1/2')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('FILE_UNREADABLE'),
    });
    const { code, stderr } = await cli(['merge', '.agentci/runs'], { cwd });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('could not be read and are replaced'),
    ]);
    expect(
      Object.keys((JSON.parse(readFileSync(timings, 'utf8')) as { ms: object }).ms),
    ).toHaveLength(6);
    expect((await shard(cwd, '1/2')).stderr).not.toContain('FILE_UNREADABLE');
  });

  test.each<{ what: string; spoil: (zip: Buffer) => Buffer | undefined; says: string }>([
    {
      what: 'was cut off',
      spoil: (zip) => zip.subarray(0, zip.length / 2),
      says: 'in/s2.zip cannot be unpacked',
    },
    {
      what: 'has a byte that changed, and unpacks all the same',
      spoil: (zip) =>
        Buffer.from(zip.toString('latin1').replace('"status":"pass"', '"status":"Pass"'), 'latin1'),
      says: 'in/s2.zip cannot be unpacked: it is damaged',
    },
    {
      what: 'is encrypted',
      spoil: (zip) => {
        // Sets the encryption flag in the first header. The bytes then do not match their checksum.
        const secret = Buffer.from(zip);
        secret[6]! |= 1;
        return Buffer.from(
          secret.toString('latin1').replace('"status":"pass"', '"status":"Pass"'),
          'latin1',
        );
      },
      says: 'in/s2.zip cannot be unpacked: it is encrypted',
    },
    {
      what: 'is empty',
      spoil: () => Buffer.alloc(0),
      says: 'in/s2.zip is neither a folder nor a zip file',
    },
    {
      what: 'has no shard in it',
      spoil: () => Buffer.from(zipSync({ 'a.txt': new Uint8Array(1) })),
      says: 'no shard in in/s2.zip',
    },
    { what: 'is not there', spoil: () => undefined, says: 'in/s2.zip' },
  ])(
    'a zip file that $what counts as a missing shard, and the rest is merged',
    async ({ spoil, says }) => {
      const cwd = tempDir(TIMED);
      for (const which of ['1/2', '2/2']) await shard(cwd, which);
      const runs = join(cwd, '.agentci', 'runs');
      const [first, second] = readdirSync(runs).sort();
      zipped(cwd, first!, 'in/s1.zip');
      zipped(cwd, second!, 'in/s2.zip', 0);
      const bad = spoil(readFileSync(join(cwd, 'in/s2.zip')));
      if (bad === undefined) rmSync(join(cwd, 'in/s2.zip'));
      else writeFileSync(join(cwd, 'in/s2.zip'), bad);
      const temp = join(cwd, 'temp');
      mkdirSync(temp);
      const named = ['in/s1.zip', 'in/s2.zip'];
      for (const given of bad === undefined ? [named] : [named, ['in']]) {
        const { code, stdout, stderr } = await cli(['merge', ...given, '--json'], {
          cwd,
          env: { TMPDIR: temp },
        });
        expect(code, stderr).toBe(2);
        const { checks, results } = JSON.parse(stdout) as RunResult;
        expect(results).toHaveLength(6);
        expect(results.filter(({ error }) => error?.kind === 'shard').length).toBeGreaterThan(0);
        const told = checks.map(({ message }) => message).join('\n');
        expect(told).toContain(says);
        expect(told).toMatch(/shard 2 of 2 is missing; not judged: q\d/);
        expect(told).not.toContain('agentci-zip-');
        expect(readdirSync(runs)).toHaveLength(3);
        expect(readdirSync(temp)).toEqual([]);
      }
    },
  );

  test('errors in a zip file name it, and nothing stays in the temporary folder', async () => {
    const cwd = tempDir(TIMED);
    await shard(cwd, '1/2');
    const [run] = readdirSync(join(cwd, '.agentci', 'runs'));
    rmSync(join(cwd, '.agentci', 'runs', run!, 'run.json'));
    zipped(cwd, run!, 'in/s1.zip');
    const temp = join(cwd, 'temp');
    mkdirSync(temp);
    const { stdout } = await cli(['merge', 'in', '--json'], { cwd, env: { TMPDIR: temp } });
    expect(stdout).toContain(`shard 1 of 2 was not finished (in/s1.zip/runs/${run})`);
    await cli(['merge', 'in', '--out', '.'], { cwd, env: { TMPDIR: temp } });
    await cli(['history', 'import', 'in/s1.zip'], { cwd, env: { TMPDIR: temp } });
    expect(readdirSync(temp)).toEqual([]);
  });

  test.each([
    {
      what: 'leads out of its folder',
      zip: zipSync({ '../out.txt': new Uint8Array(1) }),
      says: 'outside its folder',
    },
    { what: 'is damaged', zip: Buffer.from('PK\u0003\u0004nothing'), says: 'it is damaged' },
    { what: 'is not one', zip: Buffer.from('text'), says: 'neither' },
  ])('a zip file that $what is rejected with a message', async ({ zip, says }) => {
    const cwd = tempDir(TIMED);
    mkdirSync(join(cwd, 'in'));
    writeFileSync(join(cwd, 'in', 's1.zip'), zip);
    for (const command of [['merge'], ['history', 'import']]) {
      const { code, stderr } = await cli([...command, 'in/s1.zip'], { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain(says);
      expect(stderr).not.toContain('Unexpected token');
    }
    expect(readdirSync(cwd)).not.toContain('out.txt');
  });

  test.each(['.agentci/runs', 'no-such-folder'])(
    '--failed does not cancel --failed-from %s',
    async (folder) => {
      const cwd = tempDir(TIMED);
      await cli(['eval', '--traces', 'traces.jsonl'], { cwd });
      const again = ['eval', '--traces', 'traces.jsonl', '--failed', '--failed-from', folder];
      expect(await cli(again, { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--failed and --failed-from exclude each other'),
      });
    },
  );

  test('--shard and --watch exclude each other', async () => {
    expect(await cli(['test', '--shard', '1/2', '--watch'], { cwd: tempDir(TIMED) })).toMatchObject(
      {
        code: 2,
        stderr: expect.stringContaining('--watch and --shard exclude each other'),
      },
    );
  });
});

describe('shards of which CI run', () => {
  /** Answers "no" to these. */
  const answering = (cwd: string, ...bad: string[]): void =>
    writeFileSync(
      join(cwd, 'traces.jsonl'),
      lines(
        ids(6).map((id) => ({
          id,
          query: id,
          answer: bad.includes(id) ? 'no' : 'ok',
          latency_ms: 50,
        })),
      ),
    );
  const NO_CI = { GITHUB_RUN_ID: '', GITHUB_RUN_ATTEMPT: '' };
  const ci = (id: string, attempt = '1') => ({
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: 'c'.repeat(40),
    GITHUB_RUN_ID: id,
    GITHUB_RUN_ATTEMPT: attempt,
  });
  const shards = async (
    cwd: string,
    env: Record<string, string>,
    ...indices: number[]
  ): Promise<void> => {
    for (const index of indices)
      await cli(['test', '--traces', 'traces.jsonl', '--quiet', '--shard', `${index}/3`], {
        cwd,
        env,
      });
  };
  const merge = async (cwd: string, env: Record<string, string>) => {
    const { code, stdout, stderr } = await cli(['merge', '.agentci/runs', '--json'], { cwd, env });
    return { code, stderr, run: stdout === '' ? undefined : (JSON.parse(stdout) as RunResult) };
  };
  const MISSING = { id: 'shards.missing', message: 'shard 3 of 3 is missing; not judged: q2, q5' };

  test.each([
    { where: 'in the CI run of the merge', env: ci('101') },
    { where: 'in the newest CI run, where the merge is in none', env: NO_CI },
  ])('a shard that is missing $where is not taken from an earlier one', async ({ env }) => {
    const cwd = tempDir(GOOD);
    await shards(cwd, ci('100'), 1, 2, 3);
    answering(cwd, 'q2');
    await shards(cwd, ci('101'), 1, 2);
    const { code, run } = await merge(cwd, env);
    expect([code, run?.checks]).toEqual([2, [expect.objectContaining(MISSING)]]);
    expect(run?.notices).toContain('3 shards of another CI run were left out (GITHUB_RUN_ID 100)');
    await shards(cwd, ci('101'), 3);
    expect(await merge(cwd, env)).toMatchObject({
      code: 1,
      run: { summary: { passed: 5, failed: 1 } },
    });
  });

  test('the newest CI run is found by its number, not by clocks', async () => {
    const cwd = tempDir({
      ...GOOD,
      'ahead.cjs': 'const { now } = Date; Date.now = () => now() + 3_600_000;\n',
    });
    await shards(
      cwd,
      { ...ci('99'), NODE_OPTIONS: `--require ${join(cwd, 'ahead.cjs')}` },
      1,
      2,
      3,
    );
    answering(cwd, 'q2');
    const other = tempDir({
      ...GOOD,
      'traces.jsonl': readFileSync(join(cwd, 'traces.jsonl'), 'utf8'),
    });
    await shards(other, ci('100'), 1, 2, 3);
    cpSync(join(other, '.agentci', 'runs'), join(cwd, '.agentci', 'runs'), { recursive: true });
    expect(await merge(cwd, NO_CI)).toMatchObject({ code: 1, run: { summary: { failed: 1 } } });
  });

  test('shards of another CI run alone are not the run that the merge is in', async () => {
    const cwd = tempDir(GOOD);
    await shards(cwd, ci('100'), 1, 2, 3);
    const { code, stderr } = await merge(cwd, ci('101'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('MERGE_MISMATCH')]);
    expect(stderr).toMatch(/GITHUB_RUN_ID 101.*GITHUB_RUN_ID 100/);
  });

  test('shards that do not know their CI run are merged in one', async () => {
    const cwd = tempDir(GOOD);
    await shards(cwd, NO_CI, 1, 2, 3);
    expect(await merge(cwd, ci('100'))).toMatchObject({ code: 0 });
  });

  test('restarted failed jobs belong to their CI run, with a note', async () => {
    const cwd = tempDir(GOOD);
    answering(cwd, 'q0', 'q1');
    await shards(cwd, ci('100'), 1, 2, 3);
    answering(cwd);
    await shards(cwd, ci('100', '2'), 1, 2);
    const { code, run } = await merge(cwd, ci('100', '2'));
    expect([code, run?.summary]).toEqual([0, expect.objectContaining({ passed: 6 })]);
    expect(run?.notices).toEqual([
      'shard 1 was given 2 times: the newest attempt counts',
      'shard 2 was given 2 times: the newest attempt counts',
      expect.stringMatching(
        /^not run again with the others: shard 3 \(ran at \d{4}-\d\d-\d\dT.*Z\)$/,
      ),
    ]);
  });

  test('without a CI run, a shard that was not run again with the others is named', async () => {
    const cwd = tempDir(GOOD);
    await shards(cwd, NO_CI, 1, 2, 3);
    expect((await merge(cwd, NO_CI)).run?.notices).toEqual([]);
    await shards(cwd, NO_CI, 1, 2);
    const { code, run } = await merge(cwd, NO_CI);
    expect([code, run?.notices]).toEqual([
      0,
      expect.arrayContaining([
        expect.stringMatching(/^not run again with the others: shard 3 \(ran at .*Z\)$/),
      ]),
    ]);
    await shards(cwd, NO_CI, 3);
    expect((await merge(cwd, NO_CI)).run?.notices.join()).not.toContain('not run again');
  });

  describe('a shard that two jobs of one CI run have run', () => {
    const gitlab = (job: string, name: string) => ({
      ...NO_CI,
      CI_PIPELINE_ID: '7',
      CI_JOB_ID: job,
      CI_JOB_NAME: name,
    });
    const github = (os: string, attempt = '1') => ({
      ...ci('100', attempt),
      GITHUB_JOB: 'agents',
      RUNNER_OS: os,
    });
    test.each([
      { jobs: 'a matrix of systems', first: github('Windows'), second: github('Linux'), code: 2 },
      { jobs: 'a matrix whose jobs look alike', first: ci('100'), second: ci('100'), code: 2 },
      {
        jobs: 'another system, later on',
        first: github('Windows'),
        second: github('Linux', '2'),
        code: 2,
      },
      {
        jobs: 'the same one, run again',
        first: github('Linux'),
        second: github('Linux', '2'),
        code: 0,
      },
      {
        jobs: 'GitLab jobs of a matrix',
        first: gitlab('8', 'a: [win]'),
        second: gitlab('9', 'a: [lin]'),
        code: 2,
      },
      {
        jobs: 'a GitLab job, run again',
        first: gitlab('8', 'a 1/3'),
        second: gitlab('9', 'a 1/3'),
        code: 0,
      },
    ])(
      'is taken from neither if they differ: $jobs, exit $code',
      async ({ first, second, code }) => {
        const [bad, good] = [tempDir(GOOD), tempDir(GOOD)];
        answering(bad, 'q0');
        await shards(bad, first, 1);
        await shards(good, second, 1, 2, 3);
        const env = { ...second, GITHUB_JOB: '', RUNNER_OS: '' };
        const merged = await cli(
          ['merge', join(bad, '.agentci', 'runs'), '.agentci/runs', '--json'],
          { cwd: good, env },
        );
        const run = JSON.parse(merged.stdout) as RunResult;
        expect([merged.code, run.checks.map(({ id }) => id)]).toEqual([
          code,
          code === 0 ? [] : ['shards.conflict'],
        ]);
      },
    );

    test('is its newest attempt if one job ran it twice on one machine', async () => {
      const cwd = tempDir(GOOD);
      answering(cwd, 'q0');
      await shards(cwd, ci('100'), 1);
      answering(cwd);
      await shards(cwd, ci('100'), 1, 2, 3);
      expect(await merge(cwd, ci('100'))).toMatchObject({ code: 0 });
    });
  });

  describe('a clock that is ahead', () => {
    const twice = async (
      first: Record<string, string>,
      second: Record<string, string>,
      isOnePlace: boolean,
    ) => {
      const cwd = tempDir({
        ...GOOD,
        'ahead.cjs': 'const { now } = Date; Date.now = () => now() + 3_600_000;\n',
      });
      const ahead = { NODE_OPTIONS: `--require ${join(cwd, 'ahead.cjs')}` };
      await shards(cwd, { ...first, ...ahead }, 1);
      const other = isOnePlace ? cwd : tempDir(GOOD);
      answering(other, 'q0');
      await shards(other, second, 1);
      answering(other);
      await shards(other, second, 2, 3);
      if (!isOnePlace)
        cpSync(join(other, '.agentci', 'runs'), join(cwd, '.agentci', 'runs'), { recursive: true });
      return merge(cwd, second);
    };

    test.each([
      {
        by: 'the number of the attempt',
        first: ci('100'),
        second: ci('100', '2'),
        isOnePlace: false,
      },
      { by: 'the order of runs in one folder', first: NO_CI, second: NO_CI, isOnePlace: true },
      {
        by: 'the bad verdict, where nothing else tells',
        first: NO_CI,
        second: NO_CI,
        isOnePlace: false,
      },
    ])(
      'does not make an attempt the newest: $by decides',
      async ({ first, second, isOnePlace }) => {
        const { code, run } = await twice(first, second, isOnePlace);
        expect([code, run?.summary]).toEqual([1, expect.objectContaining({ total: 6, failed: 1 })]);
      },
    );
  });
});

describe('a merged run', () => {
  test('adds up what the judge cost as one run does', async () => {
    const server = await scriptedModel([
      { text: verdictText(4), usage: { input: 100, output: 20 } },
    ]);
    const cwd = tempDir({
      'agentci_spec.yaml': `agent: shop
judge_config: {model: "openai:gpt-4o-mini", base_url: "${server.url}", api_key_env: JUDGE_KEY_OF_THE_TEST}
queries:
${ids(5)
  .map(
    (id) =>
      `  - {id: ${id}, query: ${id}, correctness: {llm_judge: [{template: actionable_steps}]}}`,
  )
  .join('\n')}
`,
      'traces.jsonl': GOOD['traces.jsonl'].split('\n').slice(0, 5).join('\n'),
    });
    const env = { JUDGE_KEY_OF_THE_TEST: 'sk-of-the-test' };
    const judged = (...args: string[]) =>
      cli(['test', '--traces', 'traces.jsonl', ...args], { cwd, env });
    const costs: unknown[] = [];
    for (const count of [2, 3]) {
      for (let index = 1; index <= count; index++) {
        await judged('--shard', `${index}/${count}`);
        rmSync(join(cwd, '.agentci', 'judge-cache'), { recursive: true });
      }
      const { stdout } = await cli(['merge', '.agentci/runs', '--json'], { cwd });
      costs.push((JSON.parse(stdout) as RunResult).judge.cost_usd);
      rmSync(join(cwd, '.agentci'), { recursive: true });
    }
    const whole = JSON.parse((await judged('--json')).stdout) as RunResult;
    expect(whole.judge.calls).toBe(5);
    expect(costs).toEqual(costs.map(() => whole.judge.cost_usd));
  });

  test('says what part of the suite it is, and with which command it was run', async () => {
    const cwd = tempDir(GOOD);
    const chosen = ['test', '--traces', 'traces.jsonl', '--strict', '--ids', 'q0,q1'];
    const out = ['-f', 'webhook=notice.json', '-f', 'html=report.html'];
    const told = () => ({
      part: (JSON.parse(readFileSync(join(cwd, 'notice.json'), 'utf8')) as { part: string }).part,
      command: /"command":"[^"]*"/.exec(readFileSync(join(cwd, 'report.html'), 'utf8'))?.[0],
    });
    await cli([...chosen, ...out], { cwd });
    const whole = told();
    expect(whole.part).toBe('part of the suite: 2 of 6 queries');
    rmSync(join(cwd, '.agentci'), { recursive: true });
    for (const shard of ['1/2', '2/2']) await cli([...chosen, '--shard', shard], { cwd });
    await cli(['merge', '.agentci/runs', ...out], { cwd });
    expect(told()).toEqual(whole);
  });
});

describe('what merge is given', () => {
  const shards = async (cwd: string, ...args: string[]): Promise<void> => {
    for (const shard of ['1/2', '2/2'])
      await cli(['test', '--traces', 'traces.jsonl', '--shard', shard, ...args], { cwd });
  };

  test('of shards of two specs, -c names the one that is meant, and the others are left out', async () => {
    const { 'agentci_spec.yaml': spec, ...rest } = GOOD;
    const cwd = tempDir({ ...rest, 'a.yaml': spec, 'b.yaml': spec.replaceAll('[ok]', '[other]') });
    for (const file of ['a.yaml', 'b.yaml']) await shards(cwd, '-c', file);
    const refused = await cli(['merge', '.agentci/runs'], { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('MERGE_MISMATCH')]);
    expect(refused.stderr).toMatch(/Name the one to merge: -c a\.yaml or -c b\.yaml/);
    for (const [file, code, other] of [
      ['a.yaml', 0, 'b.yaml'],
      ['b.yaml', 1, 'a.yaml'],
    ] as const) {
      const merged = await cli(['merge', '.agentci/runs', '-c', file, '--json'], { cwd });
      expect([merged.code, merged.stderr]).toEqual([code, expect.any(String)]);
      const run = JSON.parse(merged.stdout) as RunResult;
      expect(run.spec.file).toBe(file);
      expect(run.notices).toContain(`2 shards of another spec were left out (${other})`);
    }
    writeFileSync(join(cwd, 'c.yaml'), spec);
    expect(await cli(['merge', '.agentci/runs', '-c', 'c.yaml'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none of these shards is of c.yaml: they are of'),
    });
  });

  test('run folders may be links, also ones that lead back, and count once', async () => {
    const cwd = tempDir(GOOD);
    await shards(cwd);
    mkdirSync(join(cwd, 'linked'));
    const runs = join(cwd, '.agentci', 'runs');
    for (const run of readdirSync(runs)) symlinkSync(join(runs, run), join(cwd, 'linked', run));
    symlinkSync(join(cwd, 'linked'), join(cwd, 'linked', 'again'));
    const { code, stdout, stderr } = await cli(['merge', 'linked', '.agentci/runs', '--json'], {
      cwd,
    });
    expect(code, stderr).toBe(0);
    expect((JSON.parse(stdout) as RunResult).notices).toEqual([]);
  });

  test.each(['traces.jsonl', 'traces.jsonl/deeper/out'])(
    '--out %s is not a folder, which is an error',
    async (out) => {
      const cwd = tempDir(GOOD);
      await shards(cwd);
      const { code, stderr } = await cli(['merge', '.agentci/runs', '--out', out], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`--out: ${out} is not a folder`)]);
      expect(stderr).not.toContain('ENOTDIR');
    },
  );

  test('an invalid timings file is named with the right article', async () => {
    const cwd = tempDir({ ...GOOD, '.agentci/timings.json': '{}' });
    const { stderr } = await cli(['test', '--traces', 'traces.jsonl', '--shard', '1/2'], { cwd });
    expect(stderr).toContain('it is not an agentci.timings/1 file');
  });
});
