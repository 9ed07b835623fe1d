import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { RunLock } from './run-lock.ts';

const locks = (dir: string): string[] => readdirSync(dir).filter((name) => name.startsWith('lock'));
const left = (holder: object, ageMs = 0): string => {
  const dir = tempDir({ 'lock.1': JSON.stringify(holder) });
  const then = new Date(Date.now() - ageMs);
  utimesSync(join(dir, 'lock.1'), then, then);
  return dir;
};

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return child.pid!;
}

test('a lock is held until it is given back, and leaves nothing behind', () => {
  const dir = tempDir();
  const lock = RunLock.take(dir, 'r1');
  expect(() => RunLock.take(dir, 'r1')).toThrow(
    expect.objectContaining({
      code: 'RUN_IN_PROGRESS',
      message: expect.stringContaining(`process ${process.pid}`),
    }),
  );
  lock.release();
  expect(locks(dir)).toEqual([]);
  RunLock.take(dir, 'r1').release();
});

describe('a lock that was left over is taken over', () => {
  test('when its process is gone', async () => {
    const dir = left({ pid: await deadPid(), start: '1', host: hostname(), since: '' });
    const lock = RunLock.take(dir, 'r1');
    expect(locks(dir)).toEqual(['lock.2']);
    lock.release();
  });

  test.skipIf(process.platform === 'win32')(
    'when its process id belongs to another process by now',
    () => {
      const dir = left({ pid: process.pid, start: 'another time', host: hostname(), since: '' });
      RunLock.take(dir, 'r1').release();
    },
  );

  test('when another machine has not touched it for a minute', () => {
    const holder = { pid: 1, host: 'another-machine', since: '' };
    expect(() => RunLock.take(left(holder), 'r1')).toThrow(/on another-machine/);
    RunLock.take(left(holder, 120_000), 'r1').release();
  });

  test.each(['', '{', '{"pid": "x"}'])(
    'when it holds %j and nobody goes on writing it',
    (content) => {
      const dir = tempDir({ 'lock.1': content });
      const started = performance.now();
      RunLock.take(dir, 'r1').release();
      // It might have been in the middle of writing.
      expect(performance.now() - started).toBeGreaterThan(1000);
      const old = tempDir({ 'lock.1': content });
      utimesSync(join(old, 'lock.1'), new Date(0), new Date(0));
      const again = performance.now();
      RunLock.take(old, 'r1').release();
      expect(performance.now() - again).toBeLessThan(1000);
    },
  );
});

test('of many processes that take over a stale lock at once, one gets it at a time', async () => {
  const dir = left({ pid: await deadPid(), host: hostname(), since: '' });
  const source = JSON.stringify(new URL('./run-lock.ts', import.meta.url).href);
  writeFileSync(
    join(dir, 'take.mjs'),
    `import { createJiti } from ${JSON.stringify(import.meta.resolve('jiti'))};
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
const { RunLock } = await createJiti(${source}).import(${source});
while (!existsSync('go')) await new Promise((r) => setTimeout(r, 1));
for (let i = 0; i < 40; i++) {
  try {
    const lock = RunLock.take('.', 'r1');
    if (existsSync('held')) appendFileSync('log', 'TWO\\n');
    writeFileSync('held', '');
    await new Promise((r) => setTimeout(r, Math.random() * 3));
    rmSync('held', { force: true });
    appendFileSync('log', 'one\\n');
    lock.release();
  } catch (error) {
    if (error.code !== 'RUN_IN_PROGRESS') appendFileSync('log', String(error.stack) + '\\n');
    await new Promise((r) => setTimeout(r, Math.random() * 2));
  }
}`,
  );
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['take.mjs'], { cwd: dir, stdio: 'inherit' }),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  writeFileSync(join(dir, 'go'), '');
  await Promise.all(children.map((child) => once(child, 'exit')));
  const lines = readFileSync(join(dir, 'log'), 'utf8').trim().split('\n');
  expect(lines.filter((line) => line !== 'one')).toEqual([]);
  expect(lines.length).toBeGreaterThan(20);
  expect(existsSync(join(dir, 'held'))).toBe(false);
}, 60_000);
