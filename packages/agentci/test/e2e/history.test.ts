import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const lines = (values: readonly object[]): string =>
  `${values.map((value) => JSON.stringify(value)).join('\n')}\n`;
const SPEC = `agent: shop
queries:
  - {id: a, query: a, tags: [one], correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
`;
const recording = (a: string, b: string): string =>
  lines([
    { id: 'a', query: 'a', answer: a, cost_usd: 0.01, latency_ms: 100 },
    { id: 'b', query: 'b', answer: b, cost_usd: 0.02, latency_ms: 200 },
  ]);
const FILES = {
  'agentci_spec.yaml': SPEC,
  'good.jsonl': recording('ok', 'ok'),
  'bad.jsonl': recording('no', 'ok'),
  'worse.jsonl': recording('no', 'no'),
};
const runsIn = (cwd: string): Record<string, unknown>[] =>
  readFileSync(join(cwd, '.agentci', 'history', 'runs.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const on = (branch: string, commit = '1'.repeat(40)) => ({
  AGENTCI_BRANCH: branch,
  AGENTCI_COMMIT: commit,
});
const judge = (cwd: string, traces: string, env: Record<string, string> = {}, ...args: string[]) =>
  cli(['test', '--traces', traces, ...args], { cwd, env });
const json = async (cwd: string, ...args: string[]) =>
  JSON.parse((await cli(['history', ...args, '--json'], { cwd })).stdout);

/** Writes a history with the given results of query `a`. */
function writeHistory(
  cwd: string,
  verdicts: readonly string[],
  usd: (at: number) => number = () => 0.01,
): void {
  const dir = join(cwd, '.agentci', 'history');
  mkdirSync(dir, { recursive: true });
  const text = verdicts.map((status, i) => {
    const id = `20260101-${String(i).padStart(9, '0')}-0000`;
    const passed = status === 'pass' ? 1 : 0;
    writeFileSync(
      join(dir, `${id}.jsonl`),
      lines([
        { id: 'a', status, decided: status === 'error' ? 0 : 1, passed, usd: usd(i), ms: 100 },
      ]),
    );
    return JSON.stringify({
      ...{
        id,
        at: new Date(Date.UTC(2026, 0, 1 + i)).toISOString(),
        agent: 'shop',
        spec: 'agentci_spec.yaml',
        hash: 'h',
      },
      ...{
        commit: String(i).padStart(40, '0'),
        branch: 'main',
        models: [],
        total: 1,
        passed,
        failed: status === 'fail' ? 1 : 0,
      },
      ...{
        warnings: 0,
        errors: status === 'error' ? 1 : 0,
        skipped: status === 'skip' ? 1 : 0,
        usd: usd(i),
        unpriced: 0,
        tokens: 10,
        p50_ms: 100,
        p95_ms: 100,
        exit: 0,
      },
    });
  });
  writeFileSync(join(dir, 'runs.jsonl'), `${text.join('\n')}\n`);
}

test('every finished run leaves a line and a file of its queries, which git does not see', async () => {
  const cwd = tempDir(FILES);
  await judge(cwd, 'bad.jsonl', on('main'));
  await cli(['eval', '--run', 'latest', '--ids', 'b'], { cwd, env: on('fix') });
  expect(runsIn(cwd)).toMatchObject([
    {
      branch: 'main',
      commit: '1'.repeat(40),
      total: 2,
      passed: 1,
      failed: 1,
      usd: 0.03,
      p50_ms: 150,
      exit: 1,
      recorded: true,
    },
    { branch: 'fix', total: 1, passed: 1, part: true },
  ]);
  const dir = join(cwd, '.agentci', 'history');
  expect(readFileSync(join(dir, '.gitignore'), 'utf8')).toBe('*\n');
  expect(readFileSync(join(dir, `${runsIn(cwd)[0]!.id}.jsonl`), 'utf8')).toBe(
    lines([
      { id: 'a', status: 'fail', decided: 1, passed: 0, usd: 0.01, ms: 100 },
      { id: 'b', status: 'pass', decided: 1, passed: 1, usd: 0.02, ms: 200 },
    ]),
  );
  const { stdout } = await cli(['history'], { cwd });
  expect(stdout.split('\n')[1]).toMatch(/fix +11111111 +agentci_spec\.yaml +1\/1 \(part\) +passed/);
  expect((await json(cwd, '--branch', 'main')).runs).toHaveLength(1);
});

test('runs at the same time all get their line, and half a line of a killed one spoils no other', async () => {
  const cwd = tempDir(FILES);
  await judge(cwd, 'good.jsonl');
  appendFileSync(join(cwd, '.agentci', 'history', 'runs.jsonl'), '{"id":"half');
  await Promise.all(Array.from({ length: 6 }, () => judge(cwd, 'good.jsonl')));
  const { stdout, stderr } = await cli(['history', '--json'], { cwd });
  expect((JSON.parse(stdout) as { runs: object[] }).runs).toHaveLength(7);
  expect(stderr).toContain('1 line of runs.jsonl cannot be read and is skipped');
});

describe('what a history says', () => {
  test.each([
    {
      verdicts: 'pppff',
      says: /a fails since run 20260101-000000003-0000 .*2 runs in a row\n {2}it last passed in run 20260101-000000002/,
    },
    { verdicts: 'ppeff', says: /not decided in 1 run between the two/ },
    { verdicts: 'pfpfpf', says: /its verdict changed 4 times before: it is flaky/ },
    { verdicts: 'ppfp', says: /a passes now; it last failed in run 20260101-000000002/ },
    { verdicts: 'ppp', says: /a passed in every run in which it was decided/ },
    { verdicts: 'ff', says: /no run before that passed/ },
    { verdicts: 'ee', says: /a was never decided/ },
    {
      verdicts: 'xxx',
      says: /a is expected to fail, and does since run 20260101-000000000.*3 runs in a row\n {2}no run before/,
    },
    {
      verdicts: 'ppfx',
      says: /a is expected to fail, and does since run 20260101-000000002.*2 runs in a row/,
    },
    { verdicts: 'pxf', says: /a fails since run 20260101-000000001/ },
    { verdicts: 'xp', says: /a passes now; it last failed in run 20260101-000000000/ },
  ])('first-bad of $verdicts', async ({ verdicts, says }) => {
    const cwd = tempDir(FILES);
    writeHistory(
      cwd,
      [...verdicts].map((letter) => ({ p: 'pass', f: 'fail', e: 'error', x: 'skip' })[letter]!),
    );
    expect((await cli(['history', 'first-bad', 'a'], { cwd })).stdout).toMatch(says);
  });

  test('first-bad and trend agree on a query that fails as expected', async () => {
    const cwd = tempDir({
      ...FILES,
      'agentci_spec.yaml': SPEC.replace('{id: a,', '{id: a, xfail: known bug,'),
    });
    for (let i = 0; i < 2; i++) await judge(cwd, 'bad.jsonl');
    expect(await json(cwd, 'first-bad', 'a')).toMatchObject({ verdict: 'expected', runs: 2 });
    expect((await json(cwd, 'trend', 'a')).points).toMatchObject([{ rate: 0 }, { rate: 0 }]);
  });

  test.each([
    { verdicts: 'pfpfp', flaky: 1, steady: 0, few: 0 },
    { verdicts: 'pppff', flaky: 0, steady: 1, few: 0 },
    { verdicts: 'pfpf', flaky: 0, steady: 0, few: 1 },
    { verdicts: 'pfpfee', flaky: 0, steady: 0, few: 1 },
  ])(
    'flaky of $verdicts: $flaky flaky, $steady steady, $few with too few runs',
    async ({ verdicts, flaky, steady, few }) => {
      const cwd = tempDir(FILES);
      writeHistory(
        cwd,
        [...verdicts].map((letter) => ({ p: 'pass', f: 'fail', e: 'error' })[letter]!),
      );
      const found = await json(cwd, 'flaky');
      expect(found).toMatchObject({ steady, too_few: few });
      expect(found.flaky).toHaveLength(flaky);
      if (flaky === 1)
        expect(found.flaky[0]).toMatchObject({
          id: 'a',
          flips: 4,
          rate: 0.6,
          interval: { low: expect.closeTo(0.2307, 3) },
        });
    },
  );

  test('a trend has intervals, says when there are too few runs, and finds when the cost rose', async () => {
    const cwd = tempDir(FILES);
    writeHistory(cwd, ['pass', 'pass']);
    const few = (await cli(['history', 'trend'], { cwd })).stdout;
    expect(few).toContain('too few runs for a trend: 2 of at least 3');
    expect(few).toContain('cost: too few runs to tell a change (2 of at least 10)');
    expect(few).toContain('100 % (20.7 % to 100 %)');
    writeHistory(
      cwd,
      Array.from({ length: 40 }, () => 'pass'),
      (i) => (i < 25 ? 0.01 : 0.02) + (i % 5) * 0.0005,
    );
    const trend = await json(cwd, 'trend', 'a');
    expect(trend.drifts[0]).toMatchObject({
      of: 'cost',
      verdict: 'up',
      since: '20260101-000000025-0000',
    });
    expect(trend.drifts[1]).toMatchObject({ of: 'latency', verdict: 'steady' });
    writeHistory(
      cwd,
      Array.from({ length: 24 }, () => 'pass'),
      (i) => (i === 12 ? 0.8 : 0.08 + (i % 5) * 0.001),
    );
    expect((await json(cwd, 'trend')).drifts[0]).toMatchObject({ of: 'cost', verdict: 'steady' });
    expect((await cli(['history', 'trend', 'aa'], { cwd })).stderr).toContain('Did you mean "a"?');
  });

  test.each([
    {
      args: ['--parquet', 'o.parquet'],
      says: 'history list does not take --parquet',
      taker: 'history export',
    },
    {
      args: ['flaky', '--by', 'day'],
      says: 'history flaky does not take --by',
      taker: 'history cost',
    },
    {
      args: ['export', '--parquet', 'o', '--last', '3'],
      says: 'does not take --last',
      taker: 'history list, trend',
    },
    {
      args: ['first-bad', 'a', 'b'],
      says: 'takes one argument, and was given "b" as well',
      taker: 'one query',
    },
    {
      args: ['trend', 'a', 'b'],
      says: 'takes one argument, and was given "b" as well',
      taker: 'one query',
    },
    {
      args: ['cost', 'a'],
      says: 'history cost takes no argument, and was given "a"',
      taker: 'trend and first-bad',
    },
    {
      args: ['list', 'extra'],
      says: 'history list takes no argument, and was given "extra"',
      taker: 'import',
    },
  ])('what an action does not look at is refused: $args', async ({ args, says, taker }) => {
    const cwd = tempDir(FILES);
    writeHistory(cwd, ['pass', 'fail']);
    const { code, stdout, stderr } = await cli(['history', ...args], { cwd });
    expect(stderr).toContain(says);
    expect(stderr).toContain(taker);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  test('costs are summed by week, with an interval where two runs are known', async () => {
    const cwd = tempDir(FILES);
    writeHistory(
      cwd,
      Array.from({ length: 9 }, () => 'pass'),
    );
    const { periods } = await json(cwd, 'cost', '--by', 'week');
    expect(
      periods.map(({ period, runs }: { period: string; runs: number }) => [period, runs]),
    ).toEqual([
      ['2026-W01', 4],
      ['2026-W02', 5],
    ]);
    expect(periods[0]).toMatchObject({
      usd: expect.closeTo(0.04, 9),
      usd_per_run: expect.closeTo(0.01, 9),
    });
    expect((await cli(['history', 'cost', '--by', 'year'], { cwd })).stderr).toContain(
      'OPTION_INVALID',
    );
  });

  test.each([
    { of: 'no run', lines: [null, null], tokens: null, shown: 'unknown' },
    { of: 'one of two runs', lines: [10, null], tokens: 10, shown: 'at least 10' },
    { of: 'both runs', lines: [10, 10], tokens: 20, shown: '20' },
  ])(
    'tokens and costs that are known of $of are not made up: $shown',
    async ({ lines, tokens, shown }) => {
      const cwd = tempDir(FILES);
      writeHistory(
        cwd,
        lines.map(() => 'pass'),
      );
      const path = join(cwd, '.agentci', 'history', 'runs.jsonl');
      const runs = readFileSync(path, 'utf8').trim().split('\n');
      const without = (line: string, i: number): string =>
        lines[i] === null
          ? JSON.stringify({ ...JSON.parse(line), tokens: null, usd: null, unpriced: 1 })
          : line;
      writeFileSync(path, `${runs.map(without).join('\n')}\n`);
      const { periods } = await json(cwd, 'cost', '--by', 'month');
      const usd = tokens === null ? null : expect.closeTo(tokens / 1000, 9);
      expect(periods).toMatchObject([
        { runs: 2, tokens, usd, uncounted: lines.filter((each) => each === null).length },
      ]);
      expect(
        (await cli(['history', 'cost', '--by', 'month'], { cwd })).stdout.split('\n')[1],
      ).toMatch(new RegExp(`  ${shown}$`));
    },
  );

  test('a run of which some queries know their tokens says that it is a lower bound', async () => {
    const cwd = tempDir({
      'agentci_spec.yaml': `agent: shop
runner: {command: [node, agent.mjs]}
queries:
  - {id: a, query: a, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
`,
      'agent.mjs': `let text = '';
for await (const chunk of process.stdin) text += chunk;
console.log(JSON.stringify({ answer: 'ok', ...(JSON.parse(text).id === 'a' ? { total_tokens: 7 } : {}) }));
`,
    });
    await cli(['test'], { cwd });
    expect((await json(cwd, 'cost')).periods).toMatchObject([
      { tokens: 7, uncounted: 1, usd: null },
    ]);
    const { stdout } = await cli(['history', 'cost'], { cwd });
    expect(stdout).toMatch(/ unknown .* at least 7$/m);
  });

  test('sql and Parquet name the package they need', async () => {
    const cwd = tempDir(FILES);
    writeHistory(cwd, ['pass']);
    for (const args of [
      ['sql', 'SELECT 1'],
      ['export', '--parquet', 'x.parquet'],
    ])
      expect(await cli(['history', ...args], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('npm install --save-dev @duckdb/node-api'),
      });
  });
});

test('runs of CI are imported from folders and reports, once, and garbage is named', async () => {
  const ci = tempDir(FILES);
  await judge(ci, 'bad.jsonl', on('main'), '-f', 'json=report.json');
  const cwd = tempDir({
    ...FILES,
    'artifacts/other.json': '{}',
    'artifacts/broken.json': '{"schema":"agentci.results/1","results":[1],"summary":{}}',
  });
  const first = await cli(['history', 'import', join(ci, '.agentci', 'runs'), 'artifacts'], {
    cwd,
  });
  expect(first.stdout).toBe('1 run imported, 0 known already\n');
  expect(first.stderr).toContain(
    'broken.json is not a whole JSON report of agentci: it has no "agent"',
  );
  expect((await cli(['history', 'import', join(ci, 'report.json')], { cwd })).stdout).toBe(
    '0 runs imported, 1 known already\n',
  );
  expect(runsIn(cwd)).toMatchObject([{ branch: 'main', failed: 1, recorded: true }]);
  expect((await cli(['history', 'first-bad', 'a'], { cwd })).stdout).toContain('a fails since');
});

describe('a run whose counts do not add up', () => {
  test.each([
    {
      edit: { passed: 99 },
      says: 'it has "summary.passed": 99, and 1 of its 2 results with the status pass or warn',
    },
    {
      edit: { failed: 0, skipped: 1 },
      says: 'it has "summary.failed": 0, and 1 of its 2 results with the status fail',
    },
    { edit: { total: 3, errors: 1 }, says: 'it has "summary.total": 3 and 2 results' },
    { edit: { warnings: 1 }, says: 'it has "summary.warnings": 1, and 0 of its 2 results' },
  ])('is not imported from a report with $edit', async ({ edit, says }) => {
    const cwd = tempDir(FILES);
    await judge(cwd, 'bad.jsonl', {}, '-f', 'json=report.json');
    const report = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8')) as RunResult;
    const edited = tempDir({
      ...FILES,
      'report.json': JSON.stringify({ ...report, summary: { ...report.summary, ...edit } }),
    });
    const { code, stdout, stderr } = await cli(['history', 'import', 'report.json'], {
      cwd: edited,
    });
    expect(stderr).toContain(`report.json does not add up: ${says}`);
    expect([code, stdout]).toEqual([2, '0 runs imported, 0 known already\n']);
  });

  test('is imported neither from a run folder nor from another history', async () => {
    const cwd = tempDir(FILES);
    await judge(cwd, 'bad.jsonl');
    const [id] = readdirSync(join(cwd, '.agentci', 'runs')).filter((name) => /^\d{8}-/.test(name));
    for (const path of [
      join(cwd, '.agentci', 'runs', id!, 'run.json'),
      join(cwd, '.agentci', 'history', 'runs.jsonl'),
    ])
      writeFileSync(path, readFileSync(path, 'utf8').replace(/"passed": ?1/, '"passed":99'));
    const other = tempDir(FILES);
    for (const from of ['runs', 'history'])
      expect(
        (await cli(['history', 'import', join(cwd, '.agentci', from)], { cwd: other })).stdout,
      ).toMatch(/^0 runs/);
  });

  test.each([
    { passed: 99 },
    { total: 3 },
    { skipped: 1 },
    { warnings: 2 },
    { passed: 1e300, total: 1e300 },
  ])('is a line of the history that cannot be read: %o', async (edit) => {
    const cwd = tempDir(FILES);
    writeHistory(cwd, ['pass', 'pass']);
    const path = join(cwd, '.agentci', 'history', 'runs.jsonl');
    const [first, second] = readFileSync(path, 'utf8').trim().split('\n');
    writeFileSync(path, `${JSON.stringify({ ...JSON.parse(first!), ...edit })}\n${second}\n`);
    const { stdout, stderr } = await cli(['history', '--json'], { cwd });
    expect(stderr).toContain('1 line of runs.jsonl cannot be read and is skipped');
    expect(JSON.parse(stdout)).toMatchObject({
      runs: [{ id: JSON.parse(second!).id }],
      unread_lines: 1,
    });
  });
});

test('a JSON report says whether recordings were judged, so that an import does not count them as spending', async () => {
  const cwd = tempDir(FILES);
  await judge(cwd, 'good.jsonl', {}, '-f', 'json=report.json');
  const other = tempDir(FILES);
  await cli(['history', 'import', join(cwd, 'report.json')], { cwd: other });
  expect(await json(other, 'cost')).toMatchObject({ periods: [], recorded_runs: 1 });
});

test('a merged run is in the history and its shards are not', async () => {
  const cwd = tempDir(FILES);
  for (const shard of ['1/2', '2/2']) await judge(cwd, 'bad.jsonl', on('main'), '--shard', shard);
  expect(existsSync(join(cwd, '.agentci', 'history'))).toBe(false);
  await cli(['merge', '.agentci/runs'], { cwd });
  expect(runsIn(cwd)).toMatchObject([{ branch: 'main', total: 2, failed: 1 }]);
});

describe('--failed and --run latest', () => {
  const idsOf = (stdout: string): string[] =>
    (JSON.parse(stdout) as RunResult).results.map(({ id }) => id);

  test('sixty runs of another query do not make a failure forgotten', async () => {
    const cwd = tempDir(FILES);
    await judge(cwd, 'bad.jsonl');
    const runs = join(cwd, '.agentci', 'runs');
    await judge(cwd, 'good.jsonl', {}, '--ids', 'b');
    const filtered = readdirSync(runs).sort().at(-1)!;
    const { cpSync } = await import('node:fs');
    for (let i = 0; i < 60; i++)
      cpSync(join(runs, filtered), join(runs, `${filtered}-${String(i).padStart(3, '0')}`), {
        recursive: true,
      });
    expect(idsOf((await judge(cwd, 'good.jsonl', {}, '--failed', '-f', 'json')).stdout)).toEqual([
      'a',
    ]);
  });

  test('a run that stopped at its first failure says nothing about the queries after it', async () => {
    const cwd = tempDir(FILES);
    await judge(cwd, 'worse.jsonl');
    await judge(cwd, 'bad.jsonl', {}, '--fail-fast', '-w', '1');
    expect(idsOf((await judge(cwd, 'good.jsonl', {}, '--failed', '-f', 'json')).stdout)).toEqual([
      'a',
      'b',
    ]);
  });

  test('a green run on another branch leaves the failures of this one', async () => {
    const cwd = tempDir(FILES);
    await judge(cwd, 'bad.jsonl', on('fix'));
    await judge(cwd, 'good.jsonl', on('main'));
    expect(
      idsOf((await judge(cwd, 'good.jsonl', on('fix'), '--failed', '-f', 'json')).stdout),
    ).toEqual(['a']);
    expect((await judge(cwd, 'good.jsonl', on('main'), '--failed')).stderr).toContain(
      'NOTHING_FAILED',
    );
    expect((await judge(cwd, 'good.jsonl', on('new'), '--failed')).stderr).toContain(
      'NOTHING_FAILED',
    );
  });

  test('questions about now are about the branch that is checked out, others by choice, and say so', async () => {
    const cwd = tempDir({ ...FILES, '.git/HEAD': 'ref: refs/heads/fix\n' });
    await judge(cwd, 'bad.jsonl', on('fix'));
    await judge(cwd, 'good.jsonl', on('main'));
    const firstBad = async (...args: string[]) =>
      (await cli(['history', 'first-bad', 'a', ...args], { cwd })).stdout;
    expect(await firstBad()).toMatch(/^on branch fix; --branch names another, "\*" all\n.*a fails/);
    expect(await firstBad('--branch', 'main')).not.toContain('a fails');
    expect(await firstBad('--branch', '*')).not.toContain('on branch');
    expect(await json(cwd, 'flaky')).toMatchObject({ branch: 'fix', runs: 1 });
    expect(await json(cwd, 'flaky', '--branch', '*')).toMatchObject({ runs: 2 });
    // Without runs on the checked-out branch, the branch of the latest run is used.
    writeFileSync(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/new\n');
    expect(await json(cwd, 'flaky')).toMatchObject({ branch: 'main', runs: 1 });
  });

  test('eval takes the newest run that has the queries chosen', async () => {
    const cwd = tempDir(FILES);
    await judge(cwd, 'bad.jsonl');
    await judge(cwd, 'good.jsonl', {}, '--ids', 'b');
    const { stdout } = await cli(['eval', '--run', 'latest', '-f', 'json'], { cwd });
    expect(
      (JSON.parse(stdout) as RunResult).results.map(({ id, status }) => `${id} ${status}`),
    ).toEqual(['a fail', 'b pass']);
  });

  test('the branch is read from the checkout where CI says nothing', async () => {
    const cwd = tempDir({
      ...FILES,
      '.git/HEAD': 'ref: refs/heads/topic\n',
      '.git/packed-refs': `# pack\n${'a'.repeat(40)} refs/heads/topic\n`,
    });
    await judge(cwd, 'good.jsonl');
    expect(runsIn(cwd)).toMatchObject([{ branch: 'topic', commit: 'a'.repeat(40) }]);
  });
});
