import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { type ReadText, watchResources } from './resource-watch.ts';

const zeros = (count: number): string => Array.from({ length: count }, () => 0).join(' ');
const stat = (ticks: number, childTicks = 0): string =>
  `7 (a (b) c) S ${zeros(10)} ${ticks} 0 ${childTicks} 0 ${zeros(9)}`;
const status = (mb: number): string => `Name:\ta\nVmRSS:\t  ${mb * 1024} kB\nThreads:\t1\n`;

/** A machine that returns the next of its readings at each request. */
function machine(files: Readonly<Record<string, readonly (string | undefined)[]>>): ReadText {
  const asked = new Map<string, number>();
  return (path) => {
    const n = asked.get(path) ?? 0;
    asked.set(path, n + 1);
    return files[path]?.[Math.min(n, files[path].length - 1)];
  };
}

function watched(files: Readonly<Record<string, readonly (string | undefined)[]>>) {
  let time = 0;
  const watch = watchResources(7, { read: machine(files), now: () => time });
  time = 1000;
  return watch.stop();
}

const RAPL = '/sys/class/powercap/intel-rapl:0/energy_uj';

test('adds up CPU and memory of the tree, for any process names', () => {
  const samples = watched({
    '/proc/7/stat': [stat(10), stat(40)],
    '/proc/7/status': [status(1), status(2)],
    '/proc/7/task/7/children': ['8 '],
    '/proc/8/stat': [stat(10)],
    '/proc/8/status': [status(1)],
  });
  expect(samples).toEqual([{ t: 0, durationMs: 1000, cpuPct: 50, rssMb: 3, source: 'measured' }]);
});

test('counts a child that has ended with its parent, and never twice', () => {
  const [sample] = watched({
    '/proc/7/stat': [stat(10), stat(20, 30)],
    '/proc/7/status': [status(1)],
    '/proc/7/task/7/children': ['8 ', ''],
    '/proc/8/stat': [stat(25)],
  });
  expect(sample?.cpuPct).toBe(50);
});

test('a process that is gone before it could be asked again has no load, which is not a load of 0', () => {
  const [sample] = watched({
    '/proc/7/stat': [stat(0), undefined],
    '/proc/7/status': [status(1), undefined],
  });
  expect(sample).toEqual({ t: 0, durationMs: 1000, rssMb: 1, source: 'measured' });
});

test('gives the tree its share of the energy, and calls it estimated', () => {
  const samples = watched({
    '/proc/7/stat': [stat(0), stat(50)],
    '/proc/7/status': [status(1)],
    '/proc/stat': ['cpu  0 0 0 0 0 0 0 0', 'cpu  100 0 0 500 0 0 0 0'],
    [RAPL]: ['1000000', '4000000'],
    [RAPL.replace(':0', ':1')]: ['1000000', '2000000'],
  });
  expect(samples[1]).toMatchObject({ joules: 2, source: 'estimated' });
});

test.each([
  ['nothing can be read', {}],
  ['the process is gone', { '/proc/7/stat': [undefined] }],
  ['what is read is nonsense', { '/proc/7/stat': ['nonsense'] }],
])('is silent where %s', (_, files) => {
  expect(watched(files)).toEqual([]);
});

test('a counter that went round gives no energy', () => {
  expect(
    watched({
      '/proc/7/stat': [stat(1)],
      '/proc/7/status': [status(1)],
      '/proc/stat': ['cpu 0 0 0 0 0', 'cpu 9 0 0 0 0'],
      [RAPL]: ['9', '1'],
    }),
  ).toHaveLength(1);
});

test.skipIf(process.platform !== 'linux')('sees a real process', async () => {
  const child = spawn(process.execPath, [
    '-e',
    'const end = Date.now() + 400; while (Date.now() < end);',
  ]);
  const watch = watchResources(child.pid!);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const [sample] = watch.stop();
  child.kill();
  expect(sample?.rssMb).toBeGreaterThan(5);
  expect(sample?.source).toBe('measured');
});
