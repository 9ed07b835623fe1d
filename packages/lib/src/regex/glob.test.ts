import vectors from '@agentci/testing/vectors/layers.json' with { type: 'json' };
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from './glob.ts';

test.each(vectors.filter((row) => row.kind === 'pattern.tool'))(
  '$id $note',
  ({ input, expected }) => {
    const { pattern, tool } = input as { pattern: string; tool: string };
    expect(compileGlob(pattern)(tool)).toBe((expected as { matches: boolean }).matches);
  },
);

describe('compileGlob', () => {
  test.each([
    { pattern: 'admin_*', name: 'admin_delete', matches: true },
    { pattern: 'admin_*', name: 'admin_', matches: true },
    { pattern: 'admin_*', name: 'my_admin_x', matches: false },
    { pattern: '*_x', name: 'a_x', matches: true },
    { pattern: 'a*b', name: 'a', matches: false },
    { pattern: 'a*b', name: 'ab', matches: true },
    { pattern: 'a*b', name: 'abc', matches: false },
    { pattern: 'a**b', name: 'axyb', matches: true },
    { pattern: '?x', name: 'ax', matches: true },
    { pattern: '?x', name: 'x', matches: false },
    { pattern: '?', name: '😀', matches: true },
    { pattern: '[ab]c', name: 'bc', matches: true },
    { pattern: '[!ab]c', name: 'bc', matches: false },
    { pattern: '[a-c]*', name: 'cat', matches: true },
    { pattern: '[a-c]*', name: 'dog', matches: false },
    { pattern: 'a[', name: 'a[', matches: true },
    { pattern: '[]]', name: ']', matches: true },
    { pattern: 'Exec', name: 'exec', matches: false },
    { pattern: 'a.c', name: 'abc', matches: false },
    { pattern: '', name: '', matches: true },
    { pattern: '*', name: '', matches: true },
    { pattern: '__proto__', name: '__proto__', matches: true },
  ])('$pattern on $name: $matches', ({ pattern, name, matches }) => {
    expect(compileGlob(pattern)(name)).toBe(matches);
  });

  test('answers like the regular expression it stands for', () => {
    const piece = fc.constantFrom('a', 'b', '*', '?');
    const letters = fc
      .array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
      .map((c) => c.join(''));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), letters, (pieces, name) => {
        const source = pieces
          .map((p) => {
            if (p === '*') return '.*';
            if (p === '?') return '.';
            return p;
          })
          .join('');
        expect(compileGlob(pieces.join(''))(name)).toBe(new RegExp(`^${source}$`).test(name));
      }),
      { numRuns: 500 },
    );
  });

  test('many stars against a long name take no time', () => {
    const matcher = compileGlob(`${'*a'.repeat(50)}*b`);
    const start = performance.now();
    expect(matcher('a'.repeat(20_000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
