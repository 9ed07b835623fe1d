import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { listRuns, readRuns } from '@agentci/run';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pageTrends } from '../../src/view/page-trends.ts';
import { cli } from '../support/cli.ts';

/** Answers "ok", except to the queries in bad.txt. */
const AGENT = `import { readFileSync } from 'node:fs';
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { id } = JSON.parse(text);
const isBad = readFileSync('bad.txt', 'utf8').split(' ').includes(id);
console.log(JSON.stringify({ answer: isBad ? 'no' : 'ok', cost_usd: 0.01 }));
`;
const LIVE = {
  'agent.mjs': AGENT,
  'bad.txt': '',
  'agentci_spec.yaml': `agent: shop
runner: {command: [node, agent.mjs]}
queries:
  - {id: a, query: a, correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
`,
};
const on = (branch: string, commit = '1'.repeat(40)) => ({
  AGENTCI_BRANCH: branch,
  AGENTCI_COMMIT: commit,
});
const runsIn = (cwd: string): string[] => readdirSync(join(cwd, '.agentci', 'runs')).sort();
const json = async (cwd: string, ...args: string[]) =>
  JSON.parse((await cli(['history', ...args, '--json'], { cwd })).stdout);
/** Runs the agent with failing queries, and returns the id of the run. */
async function run(
  cwd: string,
  { bad = '', args = [] as string[], env = {} } = {},
): Promise<string> {
  writeFileSync(join(cwd, 'bad.txt'), bad);
  await cli(['test', ...args], { cwd, env });
  return runsIn(cwd).at(-1)!;
}
const failedAgain = async (cwd: string): Promise<string[] | string> => {
  const { stdout, stderr } = await cli(['test', '--failed', '-f', 'json'], { cwd });
  return stdout === '' ? stderr : (JSON.parse(stdout) as RunResult).results.map(({ id }) => id);
};

describe('two specs in a folder with queries of the same id', () => {
  const spec = (agent: string): string =>
    `agent: ${agent}\nrunner: {replay: ./${agent}.jsonl}\nqueries:\n  - {id: install, query: one, correctness: {expected_in_answer: [right]}}\n`;
  const answer = (text: string): string =>
    `${JSON.stringify({ id: 'install', query: 'one', answer: text })}\n`;
  const FILES = {
    'sales.yaml': spec('sales'),
    'support.yaml': spec('support'),
    'sales.jsonl': answer('right'),
    'support.jsonl': answer('wrong'),
  };
  const project = async (rounds = 1): Promise<string> => {
    const cwd = tempDir(FILES);
    for (let i = 0; i < rounds; i++)
      for (const name of ['sales', 'support']) await cli(['test', '-c', `${name}.yaml`], { cwd });
    return cwd;
  };

  test('a query is known by agent and spec: neither is called flaky, and answers say whose they are', async () => {
    const cwd = await project(5);
    expect(await json(cwd, 'flaky')).toMatchObject({ flaky: [], steady: 2, too_few: 0 });
    const trend = await json(cwd, 'trend', 'install');
    expect(
      trend.specs.map(({ agent, points }: { agent: string; points: { rate: number }[] }) => [
        agent,
        ...points.map(({ rate }) => rate),
      ]),
    ).toEqual([
      ['sales', 1, 1, 1, 1, 1],
      ['support', 0, 0, 0, 0, 0],
    ]);
    expect((await json(cwd, 'trend')).specs).toMatchObject([
      { spec: 'sales.yaml' },
      { spec: 'support.yaml' },
    ]);
    const { stdout } = await cli(['history', 'first-bad', 'install'], { cwd });
    expect(stdout).toContain(
      '"install" is a query of 2 agents or specs; -c and --agent choose one\n',
    );
    expect(stdout).toContain('sales (sales.yaml)\ninstall passed in every run');
    expect(stdout).toContain('support (support.yaml)\ninstall fails since');
    expect(await json(cwd, 'first-bad', 'install', '-c', 'support.yaml')).toMatchObject({
      agent: 'support',
      verdict: 'bad',
      runs: 5,
    });
  });

  test.each([
    { command: ['report', '-f', 'json'], shows: '"agent": "sales"' },
    { command: ['export-metrics'], shows: 'agent="sales"' },
    { command: ['failures'], shows: 'nothing failed' },
  ])('latest of $command with -c is the newest run of that spec', async ({ command, shows }) => {
    const cwd = await project();
    expect((await cli([...command, '-c', 'sales.yaml'], { cwd })).stdout).toContain(shows);
  });

  test.each([
    { args: ['--run', 'latest'], page: '#/?run=RUN', api: 'runs' },
    { args: ['--label', '--rater', 'ada'], page: '', api: 'labels' },
  ])('view -c $args shows that spec, and no runs of another', async ({ args, page, api }) => {
    const cwd = await project();
    const [sales, support] = runsIn(cwd);
    const child = spawn(process.execPath, [CLI, 'view', '-c', 'sales.yaml', ...args], { cwd });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = new URL(line.toString().trim());
    expect(url.hash).toBe(page.replace('RUN', sales!));
    url.hash = '';
    const shown = await (await fetch(`${url}api/${api}`)).text();
    expect([sales, support].map((id) => shown.includes(id!))).toEqual([true, false]);
  });

  test('the trends of view say what of the history cannot be read', async () => {
    const cwd = tempDir(LIVE);
    await run(cwd);
    await run(cwd, { bad: 'a' });
    const root = join(cwd, '.agentci', 'history');
    const notes = () =>
      pageTrends(root, 'shop', { named: undefined, checkedOut: undefined })?.drifts.join(' ');
    expect(notes()).not.toMatch(/damaged|cannot be read/);
    rmSync(join(root, `${runsIn(cwd)[0]}.jsonl`));
    appendFileSync(join(root, 'runs.jsonl'), '{"id":"half\n');
    expect(notes()).toContain(
      '1 line of the history cannot be read, so a run may be missing here.',
    );
    expect(notes()).toContain(
      'The queries of 1 run are damaged or no longer kept: what failed or changed in it',
    );
  });

  test('the trends of view keep two specs of one agent apart', async () => {
    const cwd = tempDir({
      ...FILES,
      'support.yaml': FILES['support.yaml'].replace('agent: support', 'agent: sales'),
    });
    for (const name of ['sales', 'support', 'sales', 'support'])
      await cli(['test', '-c', `${name}.yaml`], { cwd });
    const trends = pageTrends(join(cwd, '.agentci', 'history'), 'sales', {
      named: undefined,
      checkedOut: undefined,
    });
    expect(trends?.points.map(({ rate }) => rate)).toEqual([0, 0]);
    expect(trends?.drifts[0]).toBe('There are runs of 2 specs. The charts show support.yaml.');
    expect(trends?.failing).toMatchObject([{ name: 'install (support.yaml)', runs: 2, flips: 0 }]);
  });

  test('diff -c compares with the newest run of that spec', async () => {
    const cwd = await project(2);
    const [first] = runsIn(cwd);
    const { stdout } = await cli(['diff', '-c', 'sales.yaml', '--baseline-run', first!, '--json'], {
      cwd,
    });
    expect(JSON.parse(stdout)).toMatchObject({ after: runsIn(cwd).at(-2) });
  });
});

describe('recordings of a run that are judged again are not a newer run of the agent', () => {
  test('an older green run does not make a failure go away', async () => {
    const cwd = tempDir(LIVE);
    const green = await run(cwd);
    const red = await run(cwd, { bad: 'a' });
    await cli(['eval', '--run', green], { cwd });
    expect(await json(cwd, 'first-bad', 'a')).toMatchObject({
      verdict: 'bad',
      first: { run: red },
    });
    expect((await cli(['failures'], { cwd })).stdout).toContain(`run ${red}: 1 failure`);
    expect(await failedAgain(cwd)).toEqual(['a']);
  });

  test('an older red run does not bring a failure back, whichever way its recordings are named', async () => {
    const cwd = tempDir(LIVE);
    const red = await run(cwd, { bad: 'a' });
    await run(cwd);
    await cli(['eval', '--run', red], { cwd });
    await cli(['test', '--traces', `.agentci/runs/${red}/traces`], { cwd });
    await cli(['eval', '--run', runsIn(cwd).at(-1)!], { cwd });
    expect(await json(cwd, 'first-bad', 'a')).toMatchObject({
      verdict: 'good',
      last: { run: red },
    });
    expect((await json(cwd, 'trend', 'a')).points).toHaveLength(2);
    expect(await json(cwd, 'flaky')).toMatchObject({ runs: 2 });
    expect(await failedAgain(cwd)).toContain('NOTHING_FAILED');
  });

  test('the newest verdict on the newest run counts, query by query', async () => {
    const cwd = tempDir(LIVE);
    const red = await run(cwd, { bad: 'a b' });
    const spec = readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8');
    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec.replace('[ok]', '[no]'));
    await cli(['eval', '--run', 'latest', '--ids', 'a'], { cwd });
    expect(await json(cwd, 'trend', 'a')).toMatchObject({ points: [{ run: red, status: 'pass' }] });
    expect(await json(cwd, 'trend', 'b')).toMatchObject({ points: [{ run: red, status: 'fail' }] });
    expect(await failedAgain(cwd)).toEqual(['b']);
  });

  test('what a run of one query has no recording of is not a verdict on the other', async () => {
    const cwd = tempDir(LIVE);
    await run(cwd);
    const part = await run(cwd, { args: ['--ids', 'b'] });
    await cli(['eval', '--run', part], { cwd });
    expect(await failedAgain(cwd)).toContain('NOTHING_FAILED');
    expect((await json(cwd, 'trend')).points).toHaveLength(1);
  });

  test('commits are those that the agent ran with', async () => {
    const cwd = tempDir(LIVE);
    const red = await run(cwd, { bad: 'a', env: on('main', 'a'.repeat(40)) });
    await cli(['eval', '--run', red], { cwd, env: on('main', 'b'.repeat(40)) });
    expect(await json(cwd, 'first-bad', 'a')).toMatchObject({
      first: { run: red, commit: 'a'.repeat(40) },
    });
  });
});

describe('shards', () => {
  const shards = async (cwd: string, ...which: string[]): Promise<void> => {
    for (const shard of which) await cli(['test', '--shard', shard], { cwd });
  };

  test('merged twice are one run: in the list, in what runs cost, and in an import', async () => {
    const cwd = tempDir(LIVE);
    await shards(cwd, '1/2', '2/2');
    await cli(['merge', '.agentci/runs'], { cwd });
    const stored = runsIn(cwd);
    expect(await cli(['merge', '.agentci/runs'], { cwd })).toMatchObject({ code: 0 });
    await cli(['merge', '.agentci/runs', '--out', 'elsewhere'], { cwd });
    expect(runsIn(cwd)).toEqual(stored);
    expect((await json(cwd)).runs).toHaveLength(1);
    expect((await json(cwd, 'cost')).periods).toMatchObject([{ runs: 1, usd: 0.02 }]);
    expect((await cli(['history', 'import', 'elsewhere'], { cwd })).stdout).toBe(
      '0 runs imported, 1 known already\n',
    );
    expect(JSON.parse((await cli(['report', '-f', 'json'], { cwd })).stdout)).toMatchObject({
      summary: { total: 2 },
    });
  });

  test('a shard that came late or was run again makes the run whole and not another one', async () => {
    const cwd = tempDir({ ...LIVE, 'bad.txt': 'a b' });
    // The timings stay unchanged, and so does the plan.
    const merge = () => cli(['merge', '.agentci/runs', '--timings', 'elsewhere.json'], { cwd });
    await shards(cwd, '1/2');
    await merge();
    await shards(cwd, '2/2');
    await merge();
    expect((await json(cwd)).runs).toMatchObject([{ failed: 2, errors: 0 }]);
    writeFileSync(join(cwd, 'bad.txt'), '');
    await shards(cwd, '2/2');
    await merge();
    expect((await json(cwd)).runs).toMatchObject([{ failed: 1, passed: 1 }]);
  });

  test('a missing one cost nothing, nor did a query beyond the budget', async () => {
    const cwd = tempDir(LIVE);
    await shards(cwd, '1/2');
    await cli(['merge', '.agentci/runs'], { cwd });
    await cli(['test', '--max-cost', '0.005', '-w', '1'], { cwd });
    expect((await json(cwd)).runs).toMatchObject([{ errors: 1 }, { errors: 1 }]);
    expect((await json(cwd, 'cost')).periods).toMatchObject([
      { runs: 2, usd: 0.02, unpriced: 0, usd_per_run: 0.01 },
    ]);
  });
});

describe('runs that are only in the history', () => {
  const withoutRuns = (cwd: string, ...ids: string[]): void => {
    for (const id of ids) rmSync(join(cwd, '.agentci', 'runs', id), { recursive: true });
  };

  test('--failed takes its verdicts from there', async () => {
    const cwd = tempDir(LIVE);
    withoutRuns(cwd, await run(cwd, { bad: 'b' }));
    expect(await failedAgain(cwd)).toEqual(['b']);
  });

  test('an older run that came back from a cache does not hide a newer failure', async () => {
    const cwd = tempDir(LIVE);
    await run(cwd);
    withoutRuns(cwd, await run(cwd, { bad: 'b' }));
    expect(await failedAgain(cwd)).toEqual(['b']);
  });

  test('a run on this branch counts before one on another that is stored', async () => {
    const cwd = tempDir({ ...LIVE, '.git/HEAD': 'ref: refs/heads/fix\n' });
    withoutRuns(cwd, await run(cwd, { bad: 'b', env: on('fix') }));
    await run(cwd, { env: on('main') });
    expect(await failedAgain(cwd)).toEqual(['b']);
  });

  test('if their queries are gone as well, --failed reports it', async () => {
    const cwd = tempDir(LIVE);
    const id = await run(cwd, { bad: 'b' });
    withoutRuns(cwd, id);
    rmSync(join(cwd, '.agentci', 'history', `${id}.jsonl`));
    expect(await failedAgain(cwd)).toContain(
      'the history lists 1 run of agentci_spec.yaml, but neither the runs nor',
    );
    expect(await failedAgain(tempDir(LIVE))).toContain('has not been run here before');
  });
});

describe('a run of a clock that is a day ahead', () => {
  /** Runs the agent with the machine's clock a day ahead. */
  const tomorrow = async (cwd: string, bad = ''): Promise<string> => {
    const before = new Set(readdirSync(cwd).includes('.agentci') ? runsIn(cwd) : []);
    writeFileSync(
      join(cwd, 'ahead.cjs'),
      'const { now } = Date; Date.now = () => now() + 86_400_000;\n',
    );
    await run(cwd, { bad, env: { NODE_OPTIONS: `--require ${join(cwd, 'ahead.cjs')}` } });
    return runsIn(cwd).find((id) => !before.has(id))!;
  };

  test('does not hide what failed after it, and is named once', async () => {
    const cwd = tempDir(LIVE);
    const ahead = await tomorrow(cwd);
    writeFileSync(join(cwd, 'bad.txt'), 'a b');
    const { stderr } = await cli(['test'], { cwd });
    expect(stderr).toContain(
      `1 run in the history is dated after now, so a clock is wrong, there or here: ${ahead}.`,
    );
    const [red] = runsIn(cwd);
    expect(await json(cwd, 'first-bad', 'a')).toMatchObject({
      verdict: 'bad',
      first: { run: red },
      good: { run: ahead },
    });
    expect((await cli(['failures'], { cwd })).stdout).toContain(`run ${red}: 2 failures`);
    expect((await cli(['test'], { cwd })).stderr).not.toContain('RUN_AHEAD');
    expect(await failedAgain(cwd)).toEqual(['a', 'b']);
    // The same with only the history.
    rmSync(join(cwd, '.agentci', 'runs'), { recursive: true });
    expect(await failedAgain(cwd)).toEqual(['a', 'b']);
  });

  test('counts as long as it came last', async () => {
    const cwd = tempDir(LIVE);
    await run(cwd);
    const ahead = await tomorrow(cwd, 'b');
    expect(await json(cwd, 'first-bad', 'b')).toMatchObject({
      verdict: 'bad',
      first: { run: ahead },
    });
    expect(await failedAgain(cwd)).toEqual(['b']);
  });

  test('is still older when its time has come', async () => {
    const cwd = tempDir(LIVE);
    const ahead = await tomorrow(cwd);
    const red = await run(cwd, { bad: 'a' }).then(() => runsIn(cwd)[0]!);
    const later = Date.now() + 3 * 86_400_000;
    expect(listRuns(join(cwd, '.agentci', 'runs')).map(({ id }) => id)).toEqual([red, ahead]);
    expect(readRuns(join(cwd, '.agentci', 'history'), later).lines.map(({ id }) => id)).toEqual([
      ahead,
      red,
    ]);
  });

  test('a change is reported although it exists', async () => {
    const cwd = tempDir(LIVE);
    await tomorrow(cwd);
    writeFileSync(join(cwd, 'bad.txt'), 'a');
    const { stderr } = await cli(['test', '-f', 'slack', '--notify-on', 'change'], { cwd });
    expect(stderr).toContain('AGENTCI_SLACK_WEBHOOK_URL is not set');
  });
});

test('a dry run takes costs from the newest run that knows them', async () => {
  const cwd = tempDir({
    ...LIVE,
    'free.jsonl': '{"id":"a","query":"a","answer":"ok"}\n{"id":"b","query":"b","answer":"ok"}\n',
  });
  const priced = await run(cwd);
  await cli(['test', '--traces', 'free.jsonl'], { cwd });
  const part = await run(cwd, { args: ['--ids', 'b'] });
  const dry = async (...args: string[]) =>
    (await cli(['test', '--dry-run', ...args], { cwd })).stdout;
  expect(await dry()).toContain(`about $0.0200 by run ${priced}`);
  expect(await dry('--ids', 'b')).toContain(`about $0.0100 by run ${part}`);
});

test('eval --run latest on a new branch takes the newest run with the queries chosen, and says which', async () => {
  const cwd = tempDir(LIVE);
  const whole = await run(cwd, { env: on('main') });
  const part = await run(cwd, { args: ['--ids', 'b'], env: on('new') });
  const judge = (...args: string[]) =>
    cli(['eval', '--run', 'latest', ...args], { cwd, env: on('new') });
  expect(await judge()).toMatchObject({
    code: 0,
    stderr: `agentci: judging run ${whole} of branch main\n`,
  });
  expect((await judge('--ids', 'b')).stderr).toContain(`judging run ${part} of branch new`);
});

describe('eval --run latest takes the newest run that has the recordings asked for', () => {
  const REPEATED = {
    ...LIVE,
    'agentci_spec.yaml': LIVE['agentci_spec.yaml'].replace('id: a,', 'id: a, runs: 3,'),
  };
  const judge = (cwd: string, ...args: string[]) =>
    cli(['eval', '--run', 'latest', ...args], { cwd });

  test('as often as a query is to be run', async () => {
    const cwd = tempDir(REPEATED);
    const three = await run(cwd);
    const one = await run(cwd, { args: ['-n', '1'] });
    expect(await judge(cwd)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`judging run ${three}`),
    });
    expect((await judge(cwd, '-n', '1')).stderr).toContain(`judging run ${one}`);
  });

  test.each(['good', 'bad'])(
    'if none has, the missing recordings are named and nothing is judged, %s or not',
    async (how) => {
      const cwd = tempDir(REPEATED);
      const one = await run(cwd, { args: ['-n', '1'], ...(how === 'bad' ? { bad: 'a' } : {}) });
      for (const args of [[], ['-n', '3']]) {
        const { code, stdout, stderr } = await judge(cwd, ...args);
        expect([code, stdout]).toEqual([2, '']);
        expect(stderr).toContain('RUN_RECORDINGS_GONE');
        expect(stderr).toContain(`${one}, lacks "a" (1 of 3 runs)`);
      }
    },
  );

  test('runs of a part, merged or not, are not taken for the whole', async () => {
    const cwd = tempDir({ ...LIVE, 'bad.txt': 'b' });
    for (const shard of ['1/2', '2/2']) await cli(['test', '--shard', shard], { cwd });
    await cli(['merge', '.agentci/runs', '--out', 'merged', '--timings', 'none.json'], { cwd });
    rmSync(join(cwd, '.agentci', 'runs'), { recursive: true });
    for (const shard of ['1/2', '2/2'])
      await cli(['test', '--failed-from', 'merged', '--shard', shard], { cwd });
    await cli(['merge', '.agentci/runs', '--timings', 'none.json'], { cwd });
    const part = runsIn(cwd).at(-1)!;
    await run(cwd, { args: ['--ids', 'a'] });
    const { code, stderr } = await judge(cwd);
    expect(code).toBe(2);
    expect(stderr).toContain('no stored run of agentci_spec.yaml has all recordings asked for');
    expect(stderr).toContain('lacks "b"');
    expect((await judge(cwd, '--ids', 'b')).stderr).toContain(`judging run ${part}`);
  });

  test('a query that no run has is an error of the run that is judged', async () => {
    const cwd = tempDir(LIVE);
    const known = await run(cwd);
    const spec = `${LIVE['agentci_spec.yaml']}  - {id: c, query: c, correctness: {expected_in_answer: [ok]}}\n`;
    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec);
    const { code, stdout, stderr } = await judge(cwd, '--json');
    expect(code).toBe(2);
    expect(stderr).toContain(`run ${known} lacks recordings, as does every other: "c"`);
    expect((JSON.parse(stdout) as RunResult).results.map(({ status }) => status)).toEqual([
      'pass',
      'pass',
      'error',
    ]);
  });

  test('--failed asks for what failed', async () => {
    const cwd = tempDir(LIVE);
    const whole = await run(cwd, { bad: 'b' });
    await run(cwd, { args: ['--ids', 'a'] });
    expect((await judge(cwd, '--failed')).stderr).toContain(`judging run ${whole}`);
  });
});

test('first-bad on a branch says that it looked at this branch alone', async () => {
  const cwd = tempDir({ ...LIVE, '.git/HEAD': 'ref: refs/heads/fix\n' });
  await run(cwd, { env: on('main') });
  await run(cwd, { bad: 'a', env: on('fix') });
  const firstBad = async (...args: string[]) =>
    (await cli(['history', 'first-bad', 'a', ...args], { cwd })).stdout;
  expect(await firstBad()).toContain(
    'no run before that passed on branch fix; --branch "*" looks at all branches\n',
  );
  expect(await firstBad('--branch', '*')).toContain('it last passed in run');
});

test('an empty shard, a folder of shards and a shard that is to notify each say what they are', async () => {
  const cwd = tempDir(LIVE);
  const env = { AGENTCI_SLACK_WEBHOOK_URL: 'https://127.0.0.1:9/x' };
  const [first, , third] = [
    await cli(['test', '--shard', '1/3', '-f', 'console', '-f', 'slack', '--notify-on', 'always'], {
      cwd,
      env,
    }),
    await cli(['test', '--shard', '2/3'], { cwd }),
    await cli(['test', '--shard', '3/3'], { cwd }),
  ];
  expect(first.stderr).toContain(
    'a shard notifies no one: agentci merge does, once for the whole run',
  );
  expect(third.stdout).toMatch(/^0 queries \(/m);
  expect((await cli(['history', 'import', '.agentci/runs'], { cwd })).stderr).toContain(
    '.agentci/runs has 3 shards and no whole run in it: join them with agentci merge first',
  );
});

test('what flaky counts is named: queries, and runs', async () => {
  const cwd = tempDir(LIVE);
  await run(cwd);
  expect((await cli(['history', 'flaky'], { cwd })).stdout).toBe(
    '2 queries in 1 run: 0 flaky, 0 steady, 2 decided in fewer than 5 runs, which is too few to tell\n',
  );
});

test('the help of worker gives each default once, with its unit', async () => {
  const { stdout } = await cli(['worker', '--help'], { cwd: tempDir({}) });
  expect(stdout.replace(/\s+/g, ' ').match(/default: \S+\)/g)).toEqual([
    'default: "agentci_spec.yaml")',
    'default: 4)',
    'default: never)',
    'default: 15s)',
  ]);
});
