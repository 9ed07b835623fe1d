import { execFileSync, spawn } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { SECRETS } from '../secrets/secrets.ts';
import { writeFileAtomic } from './atomic-write.ts';

test.each([
  { what: 'a text', content: 'new\n' },
  { what: 'pieces', content: ['ne', 'w', '\n'] },
  { what: 'pieces of which some are bytes', content: ['ne', Buffer.from('w'), '\n'] },
])('writes $what, in a folder that was not there', ({ content }) => {
  const dir = tempDir();
  writeFileAtomic(join(dir, 'a/b/file.txt'), content);
  expect(readdirSync(join(dir, 'a/b'))).toEqual(['file.txt']);
  expect(readFileSync(join(dir, 'a/b/file.txt'), 'utf8')).toBe('new\n');
});

test('a secret in bytes that were written before it was known is masked', () => {
  const path = join(tempDir(), 'file.txt');
  const value = 'sk-atomic-write-7f3a9c1e5d';
  SECRETS.add([{ name: 'LATE_KEY', value, isUsed: true }]);
  writeFileAtomic(path, ['said: ', Buffer.from(`"${value}"`), '\n']);
  expect(readFileSync(path, 'utf8')).toMatch(/^said: /);
  expect(readFileSync(path, 'utf8')).not.toContain(value);
});

test('an interrupted write leaves the old file and no temporary one', () => {
  const dir = tempDir({ 'file.txt': 'old' });
  const path = join(dir, 'file.txt');
  function* broken() {
    // Larger than the buffer.
    yield 'x'.repeat(1_000_000);
    expect(readFileSync(path, 'utf8')).toBe('old');
    throw new Error('out of words');
  }
  expect(() => writeFileAtomic(path, broken())).toThrow('out of words');
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(dir)).toEqual(['file.txt']);
});

test('a link stays a link, and the file it points to has the new content', () => {
  const dir = tempDir({ 'real.json': 'old' });
  symlinkSync('real.json', join(dir, 'link.json'));
  writeFileAtomic(join(dir, 'link.json'), 'new');
  expect(readlinkSync(join(dir, 'link.json'))).toBe('real.json');
  expect(readFileSync(join(dir, 'real.json'), 'utf8')).toBe('new');
});

test('names a target that cannot be replaced, and removes the temporary file', () => {
  const dir = tempDir({});
  mkdirSync(join(dir, 'folder'));
  expect(() => writeFileAtomic(join(dir, 'folder'), 'x')).toThrow(/EISDIR/);
  expect(() => writeFileAtomic(join(dir, 'folder/file'), failing())).toThrow('no more');
  expect(readdirSync(dir)).toEqual(['folder']);
  expect(readdirSync(join(dir, 'folder'))).toEqual([]);
});

function* failing(): Generator<string> {
  yield 'x';
  throw new Error('no more');
}

describe.skipIf(process.platform === 'win32')('targets that are not files', () => {
  test('a pipe is written to and is a pipe afterwards', async () => {
    const dir = tempDir({});
    const pipe = join(dir, 'pipe');
    execFileSync('sh', ['-c', 'mkfifo "$0"', pipe]);
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
    const read = new Promise<string>((resolve) => {
      let text = '';
      reader.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      reader.stdout.on('end', () => resolve(text));
    });
    writeFileAtomic(pipe, 'through');
    expect(await read).toBe('through');
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(dir)).toEqual(['pipe']);
  });
});
