import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { runProcess } from './process.ts';

const base = { cwd: process.cwd(), env: process.env, stdin: '', maxStdoutBytes: 1_000_000 };
const never = new AbortController().signal;
const node = (code: string) => ({ command: process.execPath, args: ['-e', code] });

/** Gone, or a zombie that waits for init. */
async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 50; tries++) {
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
    if (stdout.trim() === '' || stdout.startsWith('Z')) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

test('gives stdout, stderr and the exit code', async () => {
  const outcome = await runProcess({
    ...base,
    ...node('console.log("out"); console.error("err"); process.exitCode = 3'),
    signal: never,
  });
  expect(outcome).toMatchObject({ ended: 'exited', code: 3, stderr: 'err\n' });
  expect(outcome.ended === 'exited' && outcome.stdout.toString()).toBe('out\n');
});

test('hands the input over on stdin', async () => {
  const outcome = await runProcess({
    ...base,
    ...node('process.stdin.pipe(process.stdout)'),
    stdin: '{"query":"hé"}',
    signal: never,
  });
  expect(outcome.ended === 'exited' && outcome.stdout.toString()).toBe('{"query":"hé"}');
});

test('an agent that ignores its input is fine even when the input is larger than a pipe', async () => {
  const outcome = await runProcess({
    ...base,
    ...node('console.log("done")'),
    stdin: 'x'.repeat(2_000_000),
    signal: never,
  });
  expect(outcome).toMatchObject({ ended: 'exited', code: 0 });
});

test('keeps every byte that was printed right before the exit', async () => {
  const outcome = await runProcess({
    ...base,
    ...node('process.stdout.write("x".repeat(900000))'),
    signal: never,
  });
  expect(outcome.ended === 'exited' && outcome.stdout.length).toBe(900_000);
});

test('a grandchild that holds stdout open does not hold the run, and does not survive it', async () => {
  const started = performance.now();
  const code = `const c = require('child_process').spawn('sleep', ['60'], {stdio: 'inherit'}); console.log(c.pid); c.unref(); process.exit(0)`;
  const outcome = await runProcess({ ...base, ...node(code), signal: never });
  expect(outcome).toMatchObject({ ended: 'exited', code: 0 });
  expect(performance.now() - started).toBeLessThan(10_000);
  const pid = Number(outcome.ended === 'exited' && outcome.stdout.toString());
  expect(await isGone(pid)).toBe(true);
});

test('an abort takes the whole tree down, even when it ignores the polite signal', async () => {
  const controller = new AbortController();
  const code = `process.on('SIGTERM', () => {}); const c = require('child_process').spawn('sleep', ['60']); console.error(c.pid); setInterval(() => {}, 1000)`;
  const running = runProcess({ ...base, ...node(code), signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 500));
  controller.abort();
  const outcome = await running;
  expect(outcome.ended).toBe('aborted');
  const pid = Number(outcome.ended === 'aborted' && outcome.stderr);
  expect(pid).toBeGreaterThan(0);
  expect(await isGone(pid)).toBe(true);
});

test('a print loop is stopped once it passes the limit', async () => {
  const code =
    'const line = "x".repeat(65536); const loop = () => process.stdout.write(line, loop); loop()';
  expect((await runProcess({ ...base, ...node(code), signal: never })).ended).toBe('flooded');
});

test('a missing program is reported, not thrown', async () => {
  const outcome = await runProcess({
    ...base,
    command: 'no-such-program-here',
    args: [],
    signal: never,
  });
  expect(outcome).toMatchObject({ ended: 'not_started' });
});

test.each([
  { what: 'an empty name', command: '', args: [] },
  { what: 'a null byte in an argument', command: 'cat', args: ['a\0b'] },
])('a program with $what is reported, not thrown', async ({ command, args }) => {
  expect(await runProcess({ ...base, command, args, signal: never })).toMatchObject({
    ended: 'not_started',
  });
});

test('keeps only the end of a long stderr', async () => {
  const outcome = await runProcess({
    ...base,
    ...node('process.stderr.write("x".repeat(500000) + "the reason")'),
    signal: never,
  });
  expect(outcome.ended === 'exited' && outcome.stderr.length).toBeLessThan(70_000);
  expect(outcome.ended === 'exited' && outcome.stderr.endsWith('the reason')).toBe(true);
});

test('a grandchild that ignores the polite signal and holds no pipe does not survive the run either', async () => {
  const code = `
    const c = require('child_process').spawn('sh', ['-c', 'trap "" TERM; echo ready; exec sleep 60 >/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
    c.stdout.once('data', () => { console.log(c.pid); process.exit(0) });`;
  const outcome = await runProcess({ ...base, ...node(code), signal: never });
  const pid = Number(outcome.ended === 'exited' && outcome.stdout.toString());
  expect(pid).toBeGreaterThan(0);
  expect(await isGone(pid)).toBe(true);
});

test('a process that left the group and holds stdout open does not hold the run', async () => {
  const code = `const c = require('child_process').spawn('sleep', ['60'], { stdio: 'inherit', detached: true }); console.log(c.pid); c.unref()`;
  const outcome = await runProcess({ ...base, ...node(code), signal: never });
  expect(outcome).toMatchObject({ ended: 'exited', code: 0 });
  const pid = Number(outcome.ended === 'exited' && outcome.stdout.toString());
  onTestFinished(() => void process.kill(pid));
});

test('an agent that is stopped gets the time to clean up after itself', async () => {
  const controller = new AbortController();
  // It reports when it listens. An earlier signal would just end it.
  const code = `process.on('SIGTERM', () => { console.error('cleaned up'); process.exit(0) }); setInterval(() => {}, 1000); process.kill(${process.pid}, 'SIGWINCH')`;
  const running = runProcess({
    ...base,
    ...node(code),
    signal: controller.signal,
  });
  await once(process, 'SIGWINCH');
  controller.abort();
  expect(await running).toEqual({ ended: 'aborted', stderr: 'cleaned up\n' });
});

test('a run that was stopped before it began starts nothing', async () => {
  const outcome = await runProcess({
    ...base,
    ...node('console.log("done")'),
    signal: AbortSignal.abort(),
  });
  expect(outcome).toEqual({ ended: 'aborted', stderr: '' });
});

test.each([
  { bytes: 1000, ended: 'exited' },
  { bytes: 1001, ended: 'flooded' },
])('$bytes bytes where 1000 are allowed: $ended', async ({ bytes, ended }) => {
  const code = `process.stdout.write("x".repeat(${bytes}))`;
  expect(
    (await runProcess({ ...base, ...node(code), signal: never, maxStdoutBytes: 1000 })).ended,
  ).toBe(ended);
});

test('onStart is called at the start of the process, and its result once at the end', async () => {
  const told: string[] = [];
  await runProcess({
    ...base,
    ...node(''),
    signal: never,
    onStart: (pid) => {
      told.push(typeof pid);
      return () => told.push('over');
    },
  });
  expect(told).toEqual(['number', 'over']);
});

test.skipIf(process.platform !== 'linux')(
  'a grandchild in another session does not outlive a timeout',
  async () => {
    // It leaves the group, closes the pipes, and starts another process.
    const code = `const { spawn } = require('child_process');
      const child = spawn('setsid', ['sh', '-c', 'sleep 61 & echo $! >&3; exec sleep 60'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], detached: true });
      child.stdio[3].on('data', (pid) => console.error(String(child.pid), String(pid)));
      setInterval(() => {}, 1000);`;
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 1000);
    const outcome = await runProcess({ ...base, ...node(code), signal: controller.signal });
    expect(outcome.ended).toBe('aborted');
    const pids = (outcome as { stderr: string }).stderr.trim().split(/\s+/).map(Number);
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(await isGone(pid)).toBe(true);
  },
);

test('a process that the system refuses to start is reported in words', async () => {
  const args = ['x'.repeat(200_000)];
  const outcome = await runProcess({ ...base, command: process.execPath, args, signal: never });
  expect(outcome).toMatchObject({
    ended: 'not_started',
    code: 'E2BIG',
    message: expect.stringContaining('too large'),
  });
});

test.runIf(process.platform === 'linux').each([
  ['nothing', 'echo hi', undefined],
  ['what ends soon after it', '(sleep 0.1) >/dev/null 2>&1 & echo hi', undefined],
  ['a process in the background', '(sleep 30) >/dev/null 2>&1 & echo hi', true],
  ['a process in a session of its own', 'setsid sleep 3 >/dev/null 2>&1 & echo hi', true],
])('a program that leaves %s running', async (_, script, hasLeftovers) => {
  const outcome = await runProcess({
    ...base,
    command: 'sh',
    args: ['-c', script],
    signal: never,
    leftoverMs: 500,
  });
  expect(outcome).toMatchObject({ ended: 'exited', code: 0 });
  expect((outcome as { hasLeftovers?: boolean }).hasLeftovers).toBe(hasLeftovers);
});
