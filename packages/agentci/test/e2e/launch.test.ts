import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { CLI } from '../support/cli.ts';
import { tempDir } from '../support/temp-dir.ts';

/** The program, copied to where a test may do to it what it likes. */
function ownProgram(): {
  dir: string;
  help: (options?: { env?: object; flags?: string[] }) => string;
  code: () => string[];
} {
  const dir = tempDir();
  cpSync(dirname(CLI), dir, {
    recursive: true,
    filter: (path) => !/\.mjs$|\.mts$|[\\/]code$/.test(path),
  });
  return {
    dir,
    help: ({ env = {}, flags = [] } = {}) => {
      const { NODE_OPTIONS: _, ...own } = process.env;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...flags, join(dir, 'cli.cjs'), '--help'],
        {
          encoding: 'utf8',
          env: { ...own, ...env },
        },
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    },
    code: () =>
      existsSync(join(dir, 'code'))
        ? readdirSync(join(dir, 'code'), { recursive: true, encoding: 'utf8' })
            .filter((name) => name.endsWith('.bin'))
            .map((name) => join(dir, 'code', name))
        : [],
  };
}

const runsOf = (file: string): number => readFileSync(file).readUInt32LE(4);

test('the first three runs keep what was compiled, and later ones only use it', () => {
  const { help, code } = ownProgram();
  expect(code()).toEqual([]);
  const counts = [1, 2, 3, 4].map(() => {
    expect(help()).toMatch(/^Usage: agentci/m);
    return code().map(runsOf);
  });
  expect(counts[0]!.length).toBeGreaterThan(0);
  expect(counts.map((runs) => Math.max(...runs))).toEqual([1, 2, 3, 3]);
  expect(code().filter((file) => !file.endsWith('.bin'))).toEqual([]);
});

test.each([
  { what: 'is empty', spoil: (file: string) => truncateSync(file, 0) },
  { what: 'is cut off', spoil: (file: string) => truncateSync(file, statSync(file).size - 100) },
  {
    what: 'is something else',
    spoil: (file: string) => writeFileSync(file, 'not compiled code, but long enough to look'),
  },
])('compiled code that $what is made again', ({ spoil }) => {
  const { help, code } = ownProgram();
  const first = help();
  for (const file of code()) spoil(file);
  expect(help()).toBe(first);
  expect(new Set(code().map(runsOf))).toEqual(new Set([1]));
});

test('a program that was replaced is compiled anew, even with a file of the same length', () => {
  const { dir, help } = ownProgram();
  expect(help()).toContain('Usage: agentci');
  for (const name of readdirSync(dir).filter((file) => file.endsWith('.cjs'))) {
    const text = readFileSync(join(dir, name), 'latin1');
    writeFileSync(join(dir, name), text.replaceAll('Usage: agentci', 'USAGE: agentci'), 'latin1');
    utimesSync(join(dir, name), new Date(), new Date(Date.now() + 5000));
  }
  expect(help()).toContain('USAGE: agentci');
});

test('other flags of Node have code of their own, and few of them are kept', () => {
  const { dir, help } = ownProgram();
  for (let i = 0; i < 6; i++) help({ flags: [`--stack-size=${900 + i}`] });
  expect(readdirSync(join(dir, 'code'))).toHaveLength(4);
});

test('where nothing can be written the program runs all the same', () => {
  const { dir, help } = ownProgram();
  writeFileSync(join(dir, 'code'), 'a file where the folder would be');
  expect(help()).toMatch(/^Usage: agentci/m);
});

test('NODE_DISABLE_COMPILE_CACHE leaves nothing behind', () => {
  const { help, code } = ownProgram();
  help({ env: { NODE_DISABLE_COMPILE_CACHE: '1' } });
  expect(code()).toEqual([]);
});

test('a call that could not be understood keeps no code', () => {
  const { dir, code } = ownProgram();
  const { status } = spawnSync(process.execPath, [join(dir, 'cli.cjs'), 'tset'], {
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(code()).toEqual([]);
  rmSync(dir, { recursive: true, force: true });
});
