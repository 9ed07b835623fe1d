import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TextFile } from './text-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentci-text-file-'));
afterAll(() => rmSync(dir, { recursive: true }));

function written(write: (file: TextFile, sofar: () => string) => void): string {
  const path = join(dir, 'file.txt');
  const fd = openSync(path, 'w');
  try {
    write(new TextFile(fd), () => readFileSync(path, 'utf8'));
  } finally {
    closeSync(fd);
  }
  return readFileSync(path, 'utf8');
}

test.each([
  { what: 'pieces', texts: [['{"id":', '1', '}\n'], ['{}\n']] },
  { what: 'characters of one to four bytes', texts: [['aé€😀', '😀€éa']] },
  { what: 'nothing', texts: [[], ['']] },
  { what: 'more than is gathered at once', texts: [['x'], ['€'.repeat(400_000), 'y'], ['z']] },
  {
    what: 'many lines',
    texts: Array.from({ length: 5000 }, (_, i) => [`${i} `, '😀'.repeat(50), '\n']),
  },
])('writes $what in order', ({ texts }) => {
  const text = written((file) => {
    for (const pieces of texts) file.append(...pieces);
    file.flush();
  });
  expect(text).toBe(texts.flat().join(''));
});

test('a text is in the file once it is flushed, and not before', () => {
  written((file, sofar) => {
    file.append('line\n');
    expect(sofar()).toBe('');
    file.flush();
    expect(sofar()).toBe('line\n');
    file.flush();
    expect(sofar()).toBe('line\n');
  });
});

test('what does not fit any more goes out first, so that a line is never cut in two', () => {
  written((file, sofar) => {
    const line = `${'x'.repeat(100_000)}\n`;
    for (let i = 0; i < 20; i++) {
      file.append(line);
      expect(sofar().length % line.length).toBe(0);
    }
  });
});
