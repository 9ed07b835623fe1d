import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../test/support/temp-dir.ts';
import { writeFileAtomic } from './atomic-write.ts';

test.each([
  { what: 'a text', content: 'new\n' },
  { what: 'pieces', content: ['ne', 'w', '\n'] },
])('writes $what, in a folder that was not there', ({ content }) => {
  const dir = tempDir();
  writeFileAtomic(join(dir, 'a/b/file.txt'), content);
  expect(readdirSync(join(dir, 'a/b'))).toEqual(['file.txt']);
  expect(readFileSync(join(dir, 'a/b/file.txt'), 'utf8')).toBe('new\n');
});

test('a text that breaks off leaves the old file as it was, and nothing beside it', () => {
  const dir = tempDir({ 'file.txt': 'old' });
  const path = join(dir, 'file.txt');
  function* broken() {
    // More than is gathered before it is written.
    yield 'x'.repeat(1_000_000);
    expect(readFileSync(path, 'utf8')).toBe('old');
    throw new Error('out of words');
  }
  expect(() => writeFileAtomic(path, broken())).toThrow('out of words');
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(dir)).toEqual(['file.txt']);
});
