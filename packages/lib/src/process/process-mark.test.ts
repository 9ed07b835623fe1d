import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { MARK, newMark, outlives } from './process-mark.ts';

const RUNNING = 'R';
const ENDED = 'Z';
const USER = 0x0040_0000;
const KERNEL = 0x0020_8040;
const NOW = 1e9;
const BEFORE_US = 1;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A process list with one process, whose environment is readable or, as during exec, empty. */
function processList(process: {
  state: string;
  flags: number;
  startedAt: number;
  environ?: string;
}): string {
  const proc = mkdtempSync(join(tmpdir(), 'agentci-proc-'));
  folders.push(proc);
  mkdirSync(join(proc, '4711'));
  const between = Array.from({ length: 12 }, () => 0).join(' ');
  const fields = `${process.state} 1 4711 4711 0 -1 ${process.flags} ${between} ${process.startedAt} 0`;
  writeFileSync(join(proc, '4711', 'stat'), `4711 (a) b) ${fields}\n`);
  writeFileSync(join(proc, '4711', 'environ'), process.environ ?? '');
  return proc;
}

describe.runIf(process.platform === 'linux')('whether a marked process is still running', () => {
  test('one that shows no environment while it changes programs is looked at again', async () => {
    const mark = newMark();
    const proc = processList({ state: RUNNING, flags: USER, startedAt: NOW });
    setTimeout(() => writeFileSync(join(proc, '4711', 'environ'), `A=b\0${MARK}=${mark}\0`), 12);
    expect(await outlives(mark, 0, proc)).toBe(true);
  });

  test.each([
    ['has ended', { state: ENDED, flags: USER, startedAt: NOW }],
    ['is a thread of the kernel', { state: RUNNING, flags: KERNEL, startedAt: NOW }],
    ['is older than we are', { state: RUNNING, flags: USER, startedAt: BEFORE_US }],
    ['never shows an environment', { state: RUNNING, flags: USER, startedAt: NOW }],
    [
      'carries another mark',
      { state: RUNNING, flags: USER, startedAt: NOW, environ: `${MARK}=1-2\0` },
    ],
  ])('one that %s is not', async (_, process) => {
    expect(await outlives(newMark(), 60_000, processList(process))).toBe(false);
  });

  test('reads the fields at the positions of the system', async () => {
    const mark = newMark();
    const child = spawn('sleep', ['30'], { env: { [MARK]: mark, PATH: process.env.PATH } });
    await once(child, 'spawn');
    try {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      const own = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
      expect(Number(fields[19])).toBeGreaterThanOrEqual(Number(own[19]));
      expect(await outlives(mark, 0)).toBe(true);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
