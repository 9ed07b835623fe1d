import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { type ReadText, watchResources } from './resource-watch.ts';

const stat = (ticks: number, pages: number): string =>
  `7 (a (b) c) S ${Array.from({ length: 10 }, () => 0).join(' ')} ${ticks} 0 ${Array.from({ length: 8 }, () => 0).join(' ')} ${pages} 0 0`;

/** A machine that gives the next of its readings each time it is asked. */
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

test('adds up CPU and memory of the tree, whatever a process is called', () => {
  const samples = watched({
    '/proc/7/stat': [stat(10, 256), stat(40, 512)],
    '/proc/7/task/7/children': ['8 '],
    '/proc/8/stat': [stat(10, 256)],
  });
  expect(samples).toEqual([{ t: 0, durationMs: 1000, cpuPct: 50, rssMb: 3, source: 'measured' }]);
});

test('gives the tree its share of the energy, and calls it estimated', () => {
  const samples = watched({
    '/proc/7/stat': [stat(0, 256), stat(50, 256)],
    '/proc/stat': ['cpu  0 0 0 0 0 0 0 0', 'cpu  100 0 0 500 0 0 0 0'],
    [RAPL]: ['1000000', '5000000'],
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
    watched({ '/proc/7/stat': [stat(1, 1)], '/proc/stat': ['cpu 0 0 0 0 0', 'cpu 9 0 0 0 0'], [RAPL]: ['9', '1'] }),
  ).toHaveLength(1);
});

test.skipIf(process.platform !== 'linux')('sees a real process', async () => {
  const child = spawn(process.execPath, ['-e', 'const end = Date.now() + 400; while (Date.now() < end);']);
  const watch = watchResources(child.pid!);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const [sample] = watch.stop();
  child.kill();
  expect(sample?.rssMb).toBeGreaterThan(5);
  expect(sample?.source).toBe('measured');
});
