import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

/** No failure is lost, despite wrong clocks, any import order or damaged files. */

const DAY = 86_400_000;
const FILES = {
  'agent.mjs': `import { readFileSync } from 'node:fs';
let text = '';
for await (const chunk of process.stdin) text += chunk;
const isBad = readFileSync('bad.txt', 'utf8').split(' ').includes(JSON.parse(text).id);
console.log(JSON.stringify({ answer: isBad ? 'no' : 'ok', cost_usd: 0.01 }));
`,
  'bad.txt': '',
  'clock.cjs': 'const { now } = Date; Date.now = () => now() + Number(process.env.CLOCK_OFF);\n',
  'agentci_spec.yaml': `agent: shop
runner: {command: [node, agent.mjs]}
queries:
  - {id: a, query: a, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
`,
};
const MAIN = { '.git/HEAD': 'ref: refs/heads/main\n' };

interface Run {
  readonly bad?: string;
  readonly args?: readonly string[];
  /** Error of the machine's clock. */
  readonly offMs?: number;
}

/** Runs the agent. Returns the id of the run and the output. */
async function run(
  cwd: string,
  { bad = '', args = [], offMs }: Run = {},
): Promise<{ id: string; stderr: string }> {
  writeFileSync(join(cwd, 'bad.txt'), bad);
  const env =
    offMs === undefined
      ? {}
      : { NODE_OPTIONS: `--require ${join(cwd, 'clock.cjs')}`, CLOCK_OFF: `${offMs}` };
  const before = new Set(linesIn(cwd).map(({ id }) => id));
  const { stderr } = await cli(['test', ...args], { cwd, env });
  return { id: linesIn(cwd).find(({ id }) => !before.has(id))!.id, stderr };
}
const historyOf = (cwd: string): string => join(cwd, '.agentci', 'history');
function linesIn(
  cwd: string,
): { readonly id: string; readonly at: string; readonly branch?: string }[] {
  try {
    const text = readFileSync(join(historyOf(cwd), 'runs.jsonl'), 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}
const failed = async (cwd: string): Promise<string[] | string> => {
  const { stdout, stderr } = await cli(['test', '--failed', '--dry-run', '--json'], { cwd });
  return stdout === '' ? stderr : [...stdout.matchAll(/"id": "([ab])"/g)].map(([, id]) => id!);
};
const withoutRuns = (cwd: string): void =>
  rmSync(join(cwd, '.agentci', 'runs'), { recursive: true });
const json = async (cwd: string, ...args: string[]) =>
  JSON.parse((await cli(['history', ...args, '--json'], { cwd })).stdout);

describe('clocks that disagree', () => {
  test('30 seconds either way lose no failure, whether runs are stored or only in the history', async () => {
    const cwd = tempDir(FILES);
    await run(cwd);
    const red = await run(cwd, { bad: 'b', offMs: 30_000 });
    const next = await run(cwd, { args: ['--ids', 'a'] });
    expect(next.stderr).toContain(`so a clock is wrong, there or here: ${red.id}.`);
    await run(cwd, { args: ['--ids', 'a'], offMs: -30_000 });
    expect(await failed(cwd)).toEqual(['b']);
    expect(await json(cwd, 'first-bad', 'b')).toMatchObject({
      verdict: 'bad',
      first: { run: red.id },
    });
    withoutRuns(cwd);
    expect(await failed(cwd)).toEqual(['b']);
    await run(cwd, { args: ['--ids', 'b'], offMs: -60_000 });
    expect(await failed(cwd)).toContain('NOTHING_FAILED');
    expect(await json(cwd, 'first-bad', 'b')).toMatchObject({ verdict: 'good' });
  });

  test('a clock that is 400 days slow changes no date but its own, which is marked', async () => {
    const cwd = tempDir(FILES);
    for (let i = 0; i < 2; i++) await run(cwd);
    const { id } = await run(cwd, { bad: 'a', offMs: -400 * DAY });
    await run(cwd, { args: ['--ids', 'b'] });
    const { runs } = (await json(cwd)) as {
      runs: { id: string; at: string; misdated?: boolean }[];
    };
    expect(runs.map(({ at }) => at)).toEqual(linesIn(cwd).map(({ at }) => at));
    expect(runs.filter(({ misdated }) => misdated).map((each) => each.id)).toEqual([id]);
    const months = (await json(cwd, 'cost', '--by', 'month')).periods as {
      period: string;
      runs: number;
    }[];
    expect(months.map((each) => each.runs)).toEqual([1, 3]);
    expect((await cli(['history'], { cwd })).stdout).toContain('?: 1 date of a wrong clock.');
    expect(await failed(cwd)).toEqual(['a']);
    withoutRuns(cwd);
    expect(await failed(cwd)).toEqual(['a']);
  });
});

describe('an import', () => {
  /**
   * CI artifacts: a run in which b failed, as a report and as a folder, and an older run that
   * passed.
   */
  async function artifacts(): Promise<string> {
    const ci = tempDir({ ...FILES, ...MAIN });
    const good = await run(ci);
    const red = await run(ci, { bad: 'b', args: ['-f', 'json=agentci-results.json'] });
    const dir = tempDir();
    for (const name of ['d1/runs', 'd2']) mkdirSync(join(dir, name), { recursive: true });
    cpSync(join(ci, 'agentci-results.json'), join(dir, 'd1', 'agentci-results.json'));
    cpSync(join(ci, '.agentci', 'runs', red.id), join(dir, 'd1', 'runs', red.id), {
      recursive: true,
    });
    cpSync(join(ci, '.agentci', 'runs', good.id), join(dir, 'd2', good.id), { recursive: true });
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const entries = files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(dir, path), readFileSync(path)] as const;
    });
    const zip = zipSync(Object.fromEntries(entries));
    writeFileSync(join(dir, 'all.zip'), zip);
    return dir;
  }

  test.each([
    { order: 'all at once', imports: [['d1', 'd2']] },
    { order: 'the report first', imports: [['d1/agentci-results.json'], ['d1/runs', 'd2']] },
    { order: 'in a zip file', imports: [['all.zip']] },
    { order: 'the folders first', imports: [['d2', 'd1/runs'], ['d1/agentci-results.json']] },
  ])('takes of each run what any source says: $order', async ({ imports }) => {
    const dir = await artifacts();
    const cwd = tempDir({ ...FILES, ...MAIN });
    for (const paths of imports)
      await cli(['history', 'import', ...paths.map((path) => join(dir, path))], { cwd });
    const { runs } = await json(cwd);
    expect(runs).toMatchObject([{ branch: 'main' }, { branch: 'main', failed: 1 }]);
    expect(runs).toHaveLength(2);
    expect(await failed(cwd)).toEqual(['b']);
    expect(await json(cwd, 'first-bad', 'b')).toMatchObject({ verdict: 'bad' });
    expect((await cli(['history', 'import', dir], { cwd })).stdout).toBe(
      '0 runs imported, 2 known already\n',
    );
  });

  test('counts each run once, and names shards and files that are left out', async () => {
    const dir = await artifacts();
    const ci = tempDir(FILES);
    await cli(['test', '--shard', '1/2'], { cwd: ci });
    cpSync(join(ci, '.agentci', 'runs'), join(dir, 'shards'), { recursive: true });
    writeFileSync(join(dir, 'd2', 'garbage.zip'), 'garbage');
    const cwd = tempDir({ ...FILES, ...MAIN });
    const { stdout, stderr } = await cli(['history', 'import', dir], { cwd });
    expect(stdout).toBe('2 runs imported, 0 known already\n');
    expect(stderr).toContain('1 shard left out: the merged run counts');
    expect(stderr).toContain('garbage.zip is not a zip file');
  });

  test('of a report alone: its failures count although it has no branch, with a note', async () => {
    const dir = await artifacts();
    const cwd = tempDir({ ...FILES, ...MAIN });
    const first = await cli(
      ['history', 'import', join(dir, 'd2'), join(dir, 'd1', 'agentci-results.json')],
      { cwd },
    );
    expect(first.stdout).toBe('2 runs imported, 0 known already\n');
    const { stdout, stderr } = await cli(['test', '--failed', '--dry-run', '--json'], { cwd });
    expect(stderr).toContain('1 run does not say its branch: ');
    expect(stdout).toContain('"id": "b"');
    expect((await cli(['history', 'first-bad', 'b'], { cwd })).stdout).toContain(
      '1 run does not say its branch and is left out: ',
    );
  });

  test('of a run of a clock that is ahead does not make it the newest for as long', async () => {
    const ci = tempDir({ ...FILES, ...MAIN });
    const ahead = await run(ci, { offMs: 2 * DAY });
    const cwd = tempDir({ ...FILES, ...MAIN });
    await cli(['history', 'import', join(ci, '.agentci', 'history')], { cwd });
    const red = await run(cwd, { bad: 'b' });
    const { runs } = await json(cwd);
    expect(runs).toMatchObject([{ id: ahead.id, misdated: true }, { id: red.id }]);
    expect(await failed(cwd)).toEqual(['b']);
  });
});

describe('a run of a detached HEAD', () => {
  const DETACHED = `${'a'.repeat(40)}\n`;
  const checkOut = (cwd: string, head: string): void =>
    writeFileSync(join(cwd, '.git', 'HEAD'), head);
  /** b failed on main, and a later run without a branch differs. */
  async function project(onMain: string, detached: string): Promise<{ cwd: string; main: string }> {
    const cwd = tempDir({ ...FILES, ...MAIN });
    const main = await run(cwd, { bad: onMain });
    checkOut(cwd, DETACHED);
    await run(cwd, { bad: detached });
    checkOut(cwd, MAIN['.git/HEAD']);
    return { cwd, main: main.id };
  }

  test.each(['stored', 'only in the history'])(
    'that passed does not make a failure of a branch forgotten: runs are %s',
    async (where) => {
      const { cwd, main } = await project('b', '');
      expect((await cli(['report', '--run', 'latest', '-f', 'json'], { cwd })).stdout).toContain(
        `"run_id": "${main}"`,
      );
      if (where !== 'stored') withoutRuns(cwd);
      expect(await failed(cwd)).toEqual(['b']);
    },
  );

  test.each(['stored', 'only in the history'])(
    'that failed counts as failed: runs are %s',
    async (where) => {
      const { cwd } = await project('', 'a');
      if (where !== 'stored') withoutRuns(cwd);
      const { stdout, stderr } = await cli(['test', '--failed', '--dry-run', '--json'], { cwd });
      expect(stdout).toContain('"id": "a"');
      expect(stderr).toContain('1 run does not say its branch: ');
    },
  );

  test('counts if the branch has no run', async () => {
    const { cwd } = await project('b', '');
    checkOut(cwd, 'ref: refs/heads/new\n');
    expect(await failed(cwd)).toContain('NOTHING_FAILED');
  });
});

test('a stored run on this branch counts before one on another that is only in the history', async () => {
  const cwd = tempDir({ ...FILES, ...MAIN });
  await run(cwd, { bad: 'b' });
  writeFileSync(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/fix\n');
  const { id } = await run(cwd);
  rmSync(join(cwd, '.agentci', 'runs', id), { recursive: true });
  writeFileSync(join(cwd, '.git', 'HEAD'), MAIN['.git/HEAD']);
  expect(await failed(cwd)).toEqual(['b']);
});

describe('a damaged history', () => {
  /** Everything passed, then b failed. Only the history has both runs. */
  async function project(): Promise<{ cwd: string; good: string; red: string }> {
    const cwd = tempDir(FILES);
    const good = await run(cwd);
    const red = await run(cwd, { bad: 'b' });
    withoutRuns(cwd);
    return { cwd, good: good.id, red: red.id };
  }

  test.each([
    { what: 'cut in a line', spoil: (path: string) => truncateSync(path, 40), says: 'is damaged' },
    { what: 'empty', spoil: (path: string) => truncateSync(path, 0), says: 'is damaged' },
    {
      what: 'cut between two lines',
      spoil: (path: string) => truncateSync(path, readFileSync(path, 'utf8').indexOf('\n') + 1),
      says: 'is damaged',
    },
    { what: 'gone', spoil: (path: string) => rmSync(path), says: 'is gone' },
  ])(
    '--failed does not call good what it cannot read: the verdicts of a run are $what',
    async ({ spoil, says }) => {
      const { cwd, red } = await project();
      spoil(join(historyOf(cwd), `${red}.jsonl`));
      const { code, stderr } = await cli(['test', '--failed'], { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain(
        `1 of 2 queries went wrong in run ${red}, and it cannot be read which: .agentci/history/${red}.jsonl ${says}`,
      );
      expect(stderr).toContain('HISTORY_DAMAGED');
      const firstBad = await cli(['history', 'first-bad', 'b'], { cwd });
      expect(firstBad.stdout).toContain('what became of it since cannot be read');
      expect(firstBad.stdout).not.toMatch(/every run|passes now/);
      expect((await cli(['history', 'trend', 'b'], { cwd })).stdout).toContain(
        `the queries of 1 run are damaged or no longer kept, so it may have failed there: ${red}`,
      );
      // A complete run resolves it.
      await run(cwd);
      expect(await failed(cwd)).toContain('NOTHING_FAILED');
    },
  );

  test('a line of the list that cannot be read is not a run that passed', async () => {
    const { cwd } = await project();
    const path = join(historyOf(cwd), 'runs.jsonl');
    truncateSync(path, readFileSync(path, 'utf8').length - 40);
    const { code, stderr } = await cli(['test', '--failed'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(
      '1 line of .agentci/history/runs.jsonl cannot be read, and no run of all queries came after',
    );
    const { stdout } = await cli(['history', 'first-bad', 'b'], { cwd });
    expect(stdout).toContain(
      '1 line of the history cannot be read: there were more runs than are counted here',
    );
    expect(stdout).toContain('b passed in every run that can be read and in which it was decided');
    writeFileSync(join(cwd, 'bad.txt'), '');
    expect((await cli(['test'], { cwd })).code).toBe(0);
    expect(await failed(cwd)).toContain('NOTHING_FAILED');
  });

  test('a line of the list that cannot be read may hold failures beyond those that are known', async () => {
    const cwd = tempDir(FILES);
    await run(cwd, { bad: 'a' });
    await run(cwd, { bad: 'a b' });
    const path = join(historyOf(cwd), 'runs.jsonl');
    truncateSync(path, readFileSync(path, 'utf8').length - 30);
    // The folder of that run is complete.
    expect(await failed(cwd)).toEqual(['a', 'b']);
    withoutRuns(cwd);
    expect(await failed(cwd)).toMatch(/1 line of .*runs\.jsonl cannot be read.*HISTORY_DAMAGED/);
  });

  test('a part of the verdicts of a run is not taken for all queries there are', async () => {
    const cwd = tempDir(FILES);
    const red = await run(cwd, { bad: 'b' });
    const stopped = await run(cwd, { bad: 'a', args: ['--fail-fast', '-w', '1'] });
    withoutRuns(cwd);
    for (const { id } of [red, stopped]) {
      const file = join(historyOf(cwd), `${id}.jsonl`);
      truncateSync(file, readFileSync(file, 'utf8').indexOf('\n') + 10);
    }
    const { code, stderr } = await cli(['test', '--failed'], { cwd });
    expect(stderr).toContain(
      `1 of 2 queries went wrong in run ${red.id}, and it cannot be read which`,
    );
    expect(code).toBe(2);
  });

  test('an older verdict on the same recordings does not stand in for one that cannot be read', async () => {
    const cwd = tempDir(FILES);
    await run(cwd);
    const spec = readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8');
    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec.replaceAll('[ok]', '[better]'));
    const before = new Set(linesIn(cwd).map(({ id }) => id));
    await cli(['eval', '--run', 'latest'], { cwd });
    const { id } = linesIn(cwd).find((line) => !before.has(line.id))!;
    withoutRuns(cwd);
    truncateSync(join(historyOf(cwd), `${id}.jsonl`), 20);
    expect(await failed(cwd)).toContain('HISTORY_DAMAGED');
  });

  test('verdicts replaced by newer runs are not missed', async () => {
    const { cwd, good } = await project();
    truncateSync(join(historyOf(cwd), `${good}.jsonl`), 40);
    expect(await failed(cwd)).toEqual(['b']);
    expect(readdirSync(historyOf(cwd))).toContain(`${good}.jsonl`);
  });
});

describe('a run folder that lost a line', () => {
  /** b failed, and its result is missing in the folder. */
  async function project(): Promise<{ cwd: string; id: string; journal: string }> {
    const cwd = tempDir(FILES);
    const { id } = await run(cwd, { bad: 'b' });
    const journal = join(cwd, '.agentci', 'runs', id, 'results.jsonl');
    const lines = readFileSync(journal, 'utf8').split('\n');
    writeFileSync(journal, lines.filter((line) => !line.startsWith('{"id":"b"')).join('\n'));
    return { cwd, id, journal };
  }

  test.each([
    { command: ['failures', '--run', 'latest'] },
    { command: ['report', '--run', 'latest'] },
    { command: ['test', '--failed-from', '.agentci/runs/RUN'] },
    { command: ['history', 'import', '.agentci/runs'] },
  ])('$command names the file, without a stack', async ({ command }) => {
    const { cwd, id, journal } = await project();
    const { code, stderr } = await cli(
      command.map((word) => word.replace('RUN', id)),
      { cwd },
    );
    expect(stderr).toContain(`${journal} lacks the result of "b": the stored run is damaged`);
    expect(stderr).not.toMatch(/TypeError|\n\s+at /);
    expect(code).toBe(2);
  });

  test('--failed takes its verdicts from the history, or else exits with 2', async () => {
    const { cwd, journal } = await project();
    const { stdout, stderr } = await cli(['test', '--failed', '--dry-run', '--json'], { cwd });
    expect(stderr).toContain(
      `${journal} lacks the result of "b": the stored run is damaged. Its verdicts are taken`,
    );
    expect(stdout).toContain('"id": "b"');
    expect(stdout).not.toContain('"id": "a"');
    rmSync(historyOf(cwd), { recursive: true });
    const alone = await cli(['test', '--failed'], { cwd });
    expect(alone.stderr).toContain('RUN_DAMAGED');
    expect(alone.code).toBe(2);
    await run(cwd);
    expect(await failed(cwd)).toContain('NOTHING_FAILED');
  });

  test.each([
    { what: 'a line that is not a result', line: '{}', says: ' is not the result of a query' },
    { what: 'half a line', line: '{"id":', says: ' is not JSON' },
  ])('$what in its place is named by its number', async ({ line, says }) => {
    const { cwd, journal } = await project();
    writeFileSync(journal, `${readFileSync(journal, 'utf8').trimEnd()}\n${line}\n`);
    const { code, stderr } = await cli(['failures', '--run', 'latest'], { cwd });
    expect(stderr).toContain(`${journal}:3${says}: the stored run is damaged`);
    expect(code).toBe(2);
  });
});

test.each(['results[1].cost.details', 'results[0].path', 'summary.failed', 'spec.file'])(
  'a JSON report without %s is named with that field',
  async (lacks) => {
    const cwd = tempDir(FILES);
    await run(cwd, { args: ['-f', 'json=report.json'] });
    const report = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'));
    const keys = lacks.split(/[.[\]]+/);
    let parent = report;
    for (const key of keys.slice(0, -1)) parent = parent[key];
    delete parent[keys.at(-1)!];
    writeFileSync(join(cwd, 'report.json'), JSON.stringify(report));
    for (const command of [
      ['history', 'import', 'report.json'],
      ['report', '--input', 'report.json'],
    ]) {
      const { code, stderr } = await cli(command, { cwd });
      expect(stderr).toContain('report.json is not a whole ');
      expect(stderr).toContain(`it has no "${lacks}"`);
      expect(code).toBe(2);
    }
  },
);

describe('a run in which only a check over the whole run failed', () => {
  const SPENT = JSON.stringify({
    id: 'a',
    query: 'a',
    answer: 'ok',
    metadata: { privacy_epsilon: 3 },
  });
  async function project(): Promise<{ cwd: string; id: string }> {
    const cwd = tempDir({
      'agentci_spec.yaml': `agent: shop
runner: {replay: traces.jsonl}
defaults: {metrics: {privacy_budget: {min: 0.5, total_budget: 4}}}
queries: [{id: a, query: a, correctness: {expected_in_answer: [ok]}}]
`,
      'traces.jsonl': `${SPENT}\n`,
    });
    await cli(['test'], { cwd });
    return { cwd, id: linesIn(cwd)[0]!.id };
  }

  test.each(['--failed', '--failed-from'])(
    '%s names it, and does not say that all was good',
    async (option) => {
      const { cwd, id } = await project();
      const args = option === '--failed' ? [option] : [option, join('.agentci', 'runs', id)];
      const { code, stderr } = await cli(['test', ...args], { cwd });
      expect(stderr).toContain(
        `${option}: no query failed in run ${id}, but 1 check over the whole run did: metric.priv`,
      );
      expect(stderr).toContain('Run all queries again');
      expect(code).toBe(2);
    },
  );

  test('--failed reports it if only the history knows it', async () => {
    const { cwd, id } = await project();
    withoutRuns(cwd);
    const { stderr } = await cli(['test', '--failed'], { cwd });
    expect(stderr).toContain(
      `--failed: no query failed in run ${id}, but a check over the whole run did`,
    );
  });
});

test('--failed-from says why a folder cannot be used', async () => {
  const cwd = tempDir({ ...FILES, 'notes/a.txt': '' });
  const { id } = await run(cwd, { bad: 'b' });
  const said = async (folder: string): Promise<string> =>
    (await cli(['test', '--failed-from', folder], { cwd })).stderr;
  expect(await said('nowhere')).toContain('no folder');
  const notes = await said('notes');
  expect(notes).toContain('notes is not the folder of a run');
  expect(notes).not.toContain('Nothing has been run');
  rmSync(join(cwd, '.agentci', 'runs', id, 'run.json'));
  const unfinished = await said(join('.agentci', 'runs', id));
  expect(unfinished).toContain(`run "${id}" under`);
  expect(unfinished).toContain('was not finished: it has no run.json');
  expect(unfinished).not.toContain('The newest are');
});
