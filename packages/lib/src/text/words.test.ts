import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { andMore, clip, plural } from './words.ts';

describe('counting, listing, shortening', () => {
  test.each([
    [0, '0 queries'],
    [1, '1 query'],
    [2, '2 queries'],
    [4200, '4,200 queries'],
  ])('%d is "%s"', (count, text) => {
    expect(plural(count, 'query', 'queries')).toBe(text);
  });

  test.each([
    [[], 2, ''],
    [['a'], 2, 'a'],
    [['a', 'b'], 2, 'a, b'],
    [['a', 'b', 'c', 'd'], 2, 'a, b and 2 more'],
  ])('%j shown up to %d is "%s"', (items, max, text) => {
    expect(andMore(items, max)).toBe(text);
  });

  test('a cut text is no longer than asked for, but for its mark, and has no half characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const cut = clip(text, max);
        expect(cut.length).toBeLessThanOrEqual(max + 1);
        expect(/[\ud800-\udbff](?![\udc00-\udfff])/.test(cut)).toBe(false);
        if (text.length <= max) expect(cut).toBe(text);
      }),
    );
  });
});
