import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

test('makes a folder and all above it, and leaves one that is there', () => {
  const dir = tempDir({});
  mkdirSync(join(dir, 'a'), { mode: 0o750 });
  for (let times = 0; times < 2; times++) makeFolder(join(dir, 'a/b/c'), { mode: 0o700 });
  expect(
    ['a', 'a/b', 'a/b/c'].map((name) => (statSync(join(dir, name)).mode & 0o777).toString(8)),
  ).toEqual(['750', '700', '700']);
});

test.runIf(process.platform === 'linux')('gives up if no folder can be created', () => {
  expect(() => makeFolder('/proc/agentci/a/b')).toThrow('ENOENT');
});
