import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

const isLinux = process.platform === 'linux';
const QUERIES = 10;
const agent = `
import { appendFileSync } from 'node:fs';
export default async (query) => {
  appendFileSync('asked.log', query + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 100));
  return 'ok ' + query;
};
`;
const spec = (runner = '{module: ./agent.mjs}') => `agent: demo
runner: ${runner}
queries:
${Array.from({ length: QUERIES }, (_, i) => `  - {id: q${i}, query: question ${i}, correctness: {expected_in_answer: [ok]}}`).join('\n')}
`;

/** Runs the program through a shell that sets limits or changes the environment. */
function shell(
  script: string,
  cwd: string,
): { code: number | null; stdout: string; stderr: string } {
  const { NODE_OPTIONS: _, GITHUB_ACTIONS: __, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd,
    encoding: 'utf8',
    env: { ...env, NO_COLOR: '1', NODE: process.execPath, CLI },
  });
  return { code: status, stdout, stderr };
}

/** Expects a single readable error line. */
function expectOneLine(stderr: string, words: RegExp): void {
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toMatch(/node:internal/);
  const lines = stderr.split('\n').filter((line) => words.test(line));
  expect({ lines, stderr }).toMatchObject({ lines: [expect.any(String)] });
}

const journalOf = (cwd: string): string[] => {
  const root = join(cwd, '.agentci/runs');
  const [run] = existsSync(root) ? readdirSync(root) : [];
  const file = join(root, run ?? '', 'results.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(1) : [];
};

async function waitFor(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !isSo(); tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isSo()).toBe(true);
}

test('of two concurrent --resume one works and the other refuses, and no query is asked twice', async () => {
  const cwd = tempDir({ 'agentci_spec.yaml': spec(), 'agent.mjs': agent });
  const child = spawn(process.execPath, [CLI, 'test', '-w', '1'], { cwd, stdio: 'ignore' });
  await waitFor(() => journalOf(cwd).length >= 2);
  const early = await cli(['test', '--resume'], { cwd });
  expect(early.code).toBe(2);
  expectOneLine(early.stderr, /run \S+ is in progress by process \d+ since .*\[RUN_IN_PROGRESS\]/);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.on('close', resolve));

  const finished = journalOf(cwd).length;
  const before = readFileSync(join(cwd, 'asked.log'), 'utf8').trim().split('\n').length;
  const both = await Promise.all([0, 1].map(() => cli(['test', '--resume', '-w', '1'], { cwd })));
  expect(both.map(({ code }) => code).sort()).toEqual([0, 2]);
  expect(both.find(({ code }) => code === 2)!.stderr).toMatch(/RUN_IN_PROGRESS|RESUME_REFUSED/);
  const asked = readFileSync(join(cwd, 'asked.log'), 'utf8').trim().split('\n').slice(before);
  expect(asked).toHaveLength(QUERIES - finished);
  expect(new Set(asked).size).toBe(asked.length);
  expect(
    journalOf(cwd)
      .map((line) => (JSON.parse(line) as { id: string }).id)
      .sort(),
  ).toEqual(Array.from({ length: QUERIES }, (_, i) => `q${i}`).sort());
  const [run] = readdirSync(join(cwd, '.agentci/runs'));
  expect(
    readdirSync(join(cwd, '.agentci/runs', run!)).filter((name) => name.startsWith('lock')),
  ).toEqual([]);
}, 60_000);

test.skipIf(!isLinux)(
  'a full disk ends the run with 2 and one line, and keeps finished results',
  () => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec(),
      'agent.mjs': agent.replace("'ok ' + query", "'ok ' + 'x'.repeat(12_000)"),
    });
    mkdirSync(join(cwd, '.agentci'));
    // A 64 kB file system in a namespace that disappears with the shell.
    const script =
      'mount -t tmpfs -o size=64k tmpfs .agentci && "$NODE" "$CLI" test -w 1; code=$?; mkdir -p kept; cp -r .agentci/. kept/; exit $code';
    const isolated = `unshare --mount --map-root-user bash -c '${script}'`;
    if (shell('unshare --mount --map-root-user mount -t tmpfs tmpfs /mnt', cwd).code !== 0) {
      // Without namespaces, /dev/full gives the same error.
      const { code, stderr } = shell('"$NODE" "$CLI" test -f json=/dev/full', cwd);
      expect(code).toBe(2);
      expectOneLine(stderr, /no space left|ENOSPC/);
      return;
    }
    const { code, stderr } = shell(isolated, cwd);
    expect(code).toBe(2);
    expectOneLine(stderr, /no space left on the disk/);
    const kept = join(cwd, 'kept/runs');
    const [run] = readdirSync(kept);
    const lines = readFileSync(join(kept, run!, 'results.jsonl'), 'utf8')
      .split('\n')
      .slice(1, -1);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(QUERIES);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ result: { status: 'pass' } });
  },
  60_000,
);

describe.skipIf(!isLinux)('a machine at its limits', () => {
  test('a full disk under stdout or a report is exit 2 and one line', () => {
    const cwd = tempDir({ 'agentci_spec.yaml': spec(), 'agent.mjs': agent });
    for (const script of [
      '"$NODE" "$CLI" test -f json > /dev/full',
      '"$NODE" "$CLI" test -o junit.xml -f json=/dev/full',
    ]) {
      const { code, stderr } = shell(script, cwd);
      expect(code).toBe(2);
      expectOneLine(stderr, /no space left|ENOSPC/);
    }
  }, 60_000);

  test('a disk that is full from the start is exit 2 and one line', () => {
    const cwd = tempDir({ 'agentci_spec.yaml': spec(), 'agent.mjs': agent });
    mkdirSync(join(cwd, '.agentci'));
    if (shell('unshare --mount --map-root-user mount -t tmpfs tmpfs /mnt', cwd).code !== 0) return;
    for (const size of ['nr_inodes=1', 'size=4k,nr_inodes=4', 'size=4k,nr_inodes=5']) {
      const script = `mount -t tmpfs -o ${size} tmpfs .agentci && "$NODE" "$CLI" test -w 1`;
      const { code, stderr } = shell(`unshare --mount --map-root-user bash -c '${script}'`, cwd);
      expect({ size, code, stderr }).toMatchObject({ size, code: 2 });
      expectOneLine(stderr, /no space left on the disk.*\[RUN_NOT_WRITTEN\]/);
    }
  }, 60_000);

  test('a spec whose folder goes away while it runs', () => {
    const cwd = tempDir({
      'gone/agentci_spec.yaml': spec(
        '{command: [sh, -c, "cat > /dev/null; rm -rf ../gone; echo ok"], retries: 0}',
      ),
    });
    const { code, stdout, stderr } = shell(
      '"$NODE" "$CLI" test -c gone/agentci_spec.yaml -w 1',
      cwd,
    );
    expect(code).toBe(2);
    expect(stdout + stderr).toContain('the folder of the spec is no longer there');
    expect(stdout + stderr).not.toMatch(/undefined|^\s+at /m);
  }, 60_000);

  test('traces that were deleted make a run that cannot be resumed, in words', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': spec(), 'agent.mjs': agent });
    await cli(['test'], { cwd });
    const [run] = readdirSync(join(cwd, '.agentci/runs'));
    rmSync(join(cwd, '.agentci/runs', run!, 'run.json'));
    rmSync(join(cwd, '.agentci/runs', run!, 'traces'), { recursive: true });
    const { code, stderr } = await cli(['test', '--resume'], { cwd });
    expect(code).toBe(2);
    expectOneLine(stderr, /traces\.jsonl is missing: the stored run is damaged.*\[RUN_DAMAGED\]/);
  }, 60_000);

  test('running out of file descriptors is an error of the query or the run, never a failed check', () => {
    for (const limit of [24, 28, 32, 40]) {
      const cwd = tempDir({
        'agentci_spec.yaml': spec(`{command: [${process.execPath}, agent.cjs], retries: 0}`),
        'agent.cjs': 'setTimeout(() => console.log("ok"), 300)',
      });
      const { code, stdout, stderr } = shell(`ulimit -n ${limit}; "$NODE" "$CLI" test -w 10`, cwd);
      expect([0, 2]).toContain(code);
      expect(`${stdout}${stderr}`).not.toMatch(/^\s+at |node:internal|TypeError/m);
      if (code === 2) expect(`${stdout}${stderr}`).toMatch(/too many files are open|EMFILE/);
    }
  }, 120_000);

  test('a working directory that was deleted', () => {
    const cwd = tempDir();
    const { code, stderr } = shell(
      'mkdir gone && cd gone && rmdir ../gone && "$NODE" "$CLI" test',
      cwd,
    );
    expect(code).toBe(2);
    expectOneLine(stderr, /working directory/);
  });

  test.each([
    { what: 'is not there', command: './nope', words: /no such file/ },
    { what: 'may not be executed', command: './agent.mjs', words: /may not be executed/ },
    {
      what: 'gets too much',
      command: `${process.execPath}, ${'x'.repeat(200_000)}`,
      words: /too large/,
    },
  ])('a program that $what', async ({ command, words }) => {
    const cwd = tempDir({
      'agentci_spec.yaml': spec(`{command: [${command}], retries: 0}`),
      'agent.mjs': agent,
    });
    const { code, stdout, stderr } = await cli(['test'], { cwd });
    expect(code).toBe(2);
    expect(stdout).toMatch(words);
    expect(`${stdout}${stderr}`).not.toMatch(/^\s+at /m);
  });

  test.each(['SIGHUP', 'SIGQUIT', 'SIGTERM', 'SIGINT'] as const)(
    '%s ends the agents, keeps finished results and exits 130',
    async (signal) => {
      const cwd = tempDir({
        'agentci_spec.yaml': spec(`{command: [${process.execPath}, agent.cjs]}`),
        'agent.cjs': `const { spawn } = require('child_process');
        require('fs').appendFileSync('pids', process.pid + '\\n');
        if (require('fs').readFileSync('pids', 'utf8').split('\\n').length < 3) console.log('ok');
        else { const c = spawn('sleep', ['60'], { stdio: 'ignore' }); require('fs').appendFileSync('pids', c.pid + '\\n'); setInterval(() => {}, 1000); }`,
      });
      const child = spawn(process.execPath, [CLI, 'test', '-w', '1'], { cwd, stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      const pids = () =>
        existsSync(join(cwd, 'pids'))
          ? readFileSync(join(cwd, 'pids'), 'utf8').trim().split('\n')
          : [];
      await waitFor(() => pids().length === 3);
      child.kill(signal);
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(code).toBe(130);
      expect(journalOf(cwd)).toHaveLength(1);
      await waitFor(() =>
        pids().every(
          (pid) =>
            !existsSync(`/proc/${pid}`) || /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')),
        ),
      );
      rmSync(join(cwd, 'pids'));
    },
    30_000,
  );
});

test('a run that is killed over and over loses nothing and garbles nothing', async () => {
  const { torture } = await import('../torture/torture.ts');
  expect(await torture({ rounds: 4, queries: 8, seed: 1 })).toEqual({ problems: [] });
}, 120_000);
