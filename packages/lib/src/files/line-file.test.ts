import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { LineFile } from './line-file.ts';

const open = (path: string, isSynced = false): LineFile =>
  new LineFile(openSync(path, 'a'), path, { isSynced });

test('lines are gathered until they are handed over, made sure of, or the file is closed', async () => {
  const path = join(tempDir(), 'lines.jsonl');
  const file = open(path);
  file.append('1');
  expect([readFileSync(path, 'utf8'), file.held, file.size]).toEqual(['', 2, 2]);
  file.flush();
  expect([readFileSync(path, 'utf8'), file.held]).toEqual(['1\n', 0]);
  file.append('2');
  await file.sync();
  expect(readFileSync(path, 'utf8')).toBe('1\n2\n');
  file.append('3');
  file.close();
  expect(readFileSync(path, 'utf8')).toBe('1\n2\n3\n');
});

test('a file that is abandoned keeps what it was handed, and nothing else', () => {
  const path = join(tempDir(), 'lines.jsonl');
  const file = open(path);
  file.append('1');
  file.flush();
  file.append('2');
  file.abandon();
  expect(readFileSync(path, 'utf8')).toBe('1\n');
});

test.skipIf(!existsSync('/dev/full'))(
  'reports a failed write to every later caller, and on close',
  async () => {
    const file = open('/dev/full');
    file.append('1');
    const refused = /\/dev\/full cannot be written: .*no space/i;
    expect(() => file.flush()).toThrow(refused);
    expect(() => file.append('2')).toThrow(refused);
    await expect(file.sync()).rejects.toThrow(refused);
    expect(() => file.close()).toThrow(refused);
  },
);
