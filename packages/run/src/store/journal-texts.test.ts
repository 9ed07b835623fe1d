import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { JournalTexts } from './journal-texts.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentci-texts-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Each byte depends on its position. */
const BYTES = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));

test('every piece is correct, for any order of reading', () => {
  const path = join(dir, 'any-order');
  writeFileSync(path, BYTES);
  const piece = fc.tuple(fc.nat(BYTES.length - 1), fc.oneof(fc.nat(3000), fc.nat(200_000)));
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 200 }), (pieces) => {
      const texts = new JournalTexts(path);
      for (const [at, wanted] of pieces) {
        const length = Math.min(wanted, BYTES.length - at);
        expect(texts.read(at, length).equals(BYTES.subarray(at, at + length))).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

test('text written after the first read is read', () => {
  const path = join(dir, 'growing');
  writeFileSync(path, 'first');
  const texts = new JournalTexts(path);
  expect(texts.read(0, 5).toString()).toBe('first');
  expect(() => texts.read(0, 10)).toThrow('shorter than the data written to it');
  appendFileSync(path, ' then');
  expect(texts.read(0, 10).toString()).toBe('first then');
});
