import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compileRegex,
  isLinearInV8,
  matchesEverything,
  type Regex,
  RegexTimeout,
} from './regex.ts';
import { re2Source } from './regex-source.ts';
import { parseRegex } from './regex-syntax.ts';
import { workBound, workFor } from './regex-work.ts';

function regex(pattern: string, flags?: string): Regex {
  const result = compileRegex(pattern, flags);
  if (!result.ok) throw new Error(result.message);
  return result.regex;
}

/** A text so long that the native path is excluded unless the pattern is linear. */
const LONG = 'x'.repeat(40_000);

describe('compileRegex', () => {
  test.each([
    { pattern: 'pip install', text: 'run pip install agentci', matches: true },
    { pattern: '^pip', text: 'run pip', matches: false },
    { pattern: 'Pip', text: 'pip', matches: false },
    { pattern: '(?i)PIP', text: 'pip', matches: true },
    { pattern: '(?P<year>\\d{4})-(?P=year)', text: '2026-2026', matches: true },
    { pattern: '(?P<year>\\d{4})-(?P=year)', text: '2026-2025', matches: false },
    { pattern: '(?<y>\\d)\\k<y>', text: '77', matches: true },
    { pattern: '\\Aabc\\Z', text: 'abc', matches: true },
    { pattern: '\\Aabc\\Z', text: 'abc\n', matches: false },
    { pattern: '(?m)\\Aabc$', text: 'abc\nd', matches: true },
    { pattern: '(?m)^d\\Z', text: 'abc\nd', matches: true },
    { pattern: '(?m)^c\\Z', text: 'c\nd', matches: false },
    { pattern: '(?s)a.b', text: 'a\nb', matches: true },
    { pattern: 'a.b', text: 'a\nb', matches: false },
    { pattern: 'a.b', text: 'a\u2028b', matches: false },
    { pattern: '(?im)^B', text: 'a\nb', matches: true },
    { pattern: 'a(?i:B)c', text: 'abc', matches: true },
    { pattern: 'a(?i:B)c', text: 'abC', matches: false },
    { pattern: '(?#a comment)b', text: 'b', matches: true },
    { pattern: 'foo(?=bar)', text: 'foobar', matches: true },
    { pattern: 'foo(?!bar)', text: 'foobar', matches: false },
    { pattern: '(?<=\\$)\\d+', text: 'costs $5', matches: true },
    { pattern: '(a)\\1', text: 'aa', matches: true },
    { pattern: '\\-\\_\\"\\@', text: '-_"@', matches: true },
    { pattern: 'a{,2}', text: 'a{,2}', matches: true },
    { pattern: '{}]', text: '{}]', matches: true },
    { pattern: '[^]', text: '\n', matches: true },
    { pattern: '[]', text: 'a', matches: false },
    { pattern: '[\\w-]+', text: '-', matches: true },
    { pattern: '[a-\\d]', text: '-', matches: true },
    { pattern: '\\s', text: '\u00a0', matches: true },
    { pattern: '^.$', text: '😀', matches: true },
    { pattern: '(?m:^)(?s:a.b)\\u{1F600}', text: 'x\na\nb😀', matches: true },
    { pattern: '[\\w-.]\\W(?i:\\W)', text: 'x--', matches: true },
    { pattern: 'a\\1(?#c)0(a)', text: 'a0a', matches: true },
    { pattern: '\\pL\\p{^L}', text: 'a1', matches: true },
    { pattern: '\\u{1F600}', text: '😀', matches: true },
    { pattern: '\\uD83D\\uDE00', text: '😀', matches: true },
    { pattern: '\\p{Lu}', text: 'é', matches: false },
    { pattern: '\\p{Lu}', text: 'É', matches: true },
    { pattern: '', text: 'anything', matches: true },
    { pattern: 'a||b', text: '', matches: true },
    { pattern: 'x{1001}', text: 'x'.repeat(1001), matches: true },
  ])('/$pattern/ on $text: $matches', ({ pattern, text, matches }) => {
    expect(regex(pattern).test(text)).toBe(matches);
    expect(regex(pattern).firstMatch(text) !== undefined).toBe(matches);
  });

  test.each([
    { pattern: '(', offset: 0 },
    { pattern: 'ab)', offset: 2 },
    { pattern: '[a', offset: 1 },
    { pattern: 'a**', offset: 2 },
    { pattern: '*a', offset: 1 },
    { pattern: 'a{2,1}', offset: 1 },
    { pattern: 'a++', offset: 2 },
    { pattern: '[z-a]', offset: 4 },
    { pattern: 'a\\', offset: 1 },
    { pattern: '\\y', offset: 0 },
    { pattern: '\\2(a)', offset: 2 },
    { pattern: '(?P=no)', offset: 0 },
    { pattern: '(?<a>x)(?<a>y)', offset: 12 },
    { pattern: '(?>a)', offset: 1 },
    { pattern: 'a(?i)b', offset: 1 },
    { pattern: '(?x)a', offset: 2 },
    { pattern: '\\u{110000}', offset: 0 },
    { pattern: '\\p{NoSuchThing}', offset: 0 },
    { pattern: `${'('.repeat(500)}${')'.repeat(500)}`, offset: 200 },
    { pattern: 'a'.repeat(10_001), offset: 10_000 },
  ])('refuses a pattern that is wrong at $offset: $pattern', ({ pattern, offset }) => {
    const result = compileRegex(pattern);
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.offset).toBe(offset);
  });

  test('finds the position of the first match', () => {
    expect(regex('\\d+').firstMatch('ab 123 45')).toEqual({ index: 3, text: '123' });
    expect(regex('(x+x+)+y').firstMatch(`${LONG}y`)).toEqual({ index: 0, text: `${LONG}y` });
  });

  test('gives one compiled object per pattern', () => {
    expect(regex('abc\\d')).toBe(regex('abc\\d'));
  });
});

test('knows the patterns that every text contains', () => {
  expect(['', '.*', 'a?', '(a|b*)', '(?:)+', 'a{0,3}b*'].map(matchesEverything)).toEqual(
    Array(6).fill(true),
  );
  expect(['a', '^', '$', 'a*b', '(?=a)', '(', '^.*$'].map(matchesEverything)).toEqual(
    Array(7).fill(false),
  );
});

describe('hostile patterns and texts', () => {
  const text = `${'a'.repeat(100_000)}!`;
  test.each([
    '(a+)+$',
    '(a|aa)+$',
    '(a|a)*c$',
    'a*a*a*a*b',
    '(?:a*)*b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '.*.*=.*',
    'a+b',
    '\\s*a+\\s*b',
  ])('/%s/ answers on 100 kB in linear time', (pattern) => {
    regex(pattern).test('warm');
    const start = performance.now();
    expect(regex(pattern).test(text)).toBe(false);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  test.each(['^(?=(a|aa)+$)', '(a+)+\\1$'])(
    '/%s/ reports a timeout instead of answering',
    (pattern) => {
      expect(() => regex(pattern).test(`${'a'.repeat(60)}!`)).toThrow(RegexTimeout);
    },
  );

  test('line anchors answer alike whichever engine runs', () => {
    const anchored = regex('(?m)^b(x|x)*$');
    expect(anchored.test('a\nbxx\nc')).toBe(true);
    expect(anchored.test('a\r\nbxx\r\nc')).toBe(true);
  });
});

describe('the bound on native work', () => {
  test.each([
    { pattern: 'abc', degree: 1 },
    { pattern: '^\\d+$', degree: 1 },
    { pattern: '^[a-z]+@[0-9]+$', degree: 1 },
    { pattern: 'foo.*', degree: 1 },
    { pattern: '\\w+@\\w+\\.com', degree: 2 },
    { pattern: '(\\w+)@', degree: 2 },
    { pattern: 'a*b*c', degree: 3 },
    { pattern: '(?:\\d{3},)+x', degree: 2 },
    { pattern: '(a+)+$', degree: undefined },
    { pattern: '(a|b)+', degree: undefined },
    { pattern: '(a?){30}a{30}', degree: undefined },
    { pattern: '(?=a)b', degree: undefined },
    { pattern: '[a-z]*K+x', degree: 2 },
    { pattern: '(?i)[a-z]*K+x', degree: 3 },
  ])('/$pattern/ is of degree $degree', ({ pattern, degree }) => {
    expect(workBound(parseRegex(pattern))?.degree).toBe(degree);
  });

  test('a pattern is linear in V8 only if proved', () => {
    expect(['^[A-Z]{2}\\d+$', 'abc', '^a'].map(isLinearInV8)).toEqual([true, true, true]);
    expect(['(a+)+$', 'a*b', '(', '(?=a)b'].map(isLinearInV8)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test('patterns called linear stay fast on adversarial texts', () => {
    const atom = fc.constantFrom('a', 'b', '[ab]', '.', '\\w', '[^a]', '\\d');
    const piece = fc
      .tuple(atom, fc.constantFrom('', '*', '+', '?', '{2}', '{0,3}'))
      .map(([a, q]) => a + q);
    const pattern = fc
      .tuple(
        fc.constantFrom('', '^'),
        fc.array(piece, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('', '$'),
      )
      .map(([head, pieces, tail]) => head + pieces.join('') + tail);
    const unit = fc.constantFrom('a', 'b', 'ab', 'a1', 'aab');
    fc.assert(
      fc.property(pattern, unit, (source, part) => {
        if (!isLinearInV8(source)) return;
        const hostile = `${part.repeat(60_000 / part.length)}!`;
        const native = new RegExp(source, 'u');
        const start = performance.now();
        native.test(hostile);
        expect(performance.now() - start).toBeLessThan(5_000);
      }),
      { numRuns: 150, seed: 7 },
    );
  });

  test('the bound is never below what a step-counting backtracker does', () => {
    const atom = fc.constantFrom('a', 'b', '[ab]');
    const piece = fc
      .tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,2}'))
      .map(([a, q]) => a + q);
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 5 }),
        fc.array(fc.constantFrom('a', 'b'), { maxLength: 12 }),
        (pieces, chars) => {
          const bound = workBound(parseRegex(pieces.join('')));
          expect(bound).toBeDefined();
          expect(workFor(bound!, chars.length)).toBeGreaterThanOrEqual(countSteps(pieces, chars));
        },
      ),
      { numRuns: 500, seed: 11 },
    );
  });

  test('V8 and RE2 agree on generated patterns', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '[ab]',
      '.',
      '\\s',
      '\\w',
      '\\b',
      '^',
      '$',
      '[^a]',
      '\\S',
      '(?:ab|b)',
      '(a)',
      'é',
      '\\W',
    );
    const quantifier = fc.constantFrom('', '', '*', '+?', '?', '{1,2}');
    const piece = fc
      .tuple(atom, quantifier)
      .map(([a, q]) => (['\\b', '^', '$'].includes(a) ? a : a + q));
    const text = fc
      .array(fc.constantFrom('a', 'b', ' ', '\n', '\r', 'é', '😀', '\u00a0'), { maxLength: 8 })
      .map((c) => c.join(''));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), text, (pieces, sample) => {
        const pattern = pieces.join('');
        const native = regex(pattern);
        // The added alternative has an unbounded repeat, which excludes the native engine.
        const linear = regex(`(?:${pattern})|(?:(?:zq|zq)+)+z`);
        expect(re2Source(parseRegex(pattern))).toBeTypeOf('string');
        expect(linear.test(sample)).toBe(native.test(sample));
      }),
      { numRuns: 500, seed: 3 },
    );
  });
});

/** Steps of a naive backtracking search, to compare with the bound. */
function countSteps(pieces: readonly string[], text: readonly string[]): number {
  let steps = 0;
  const items = pieces.map((piece) => {
    const [, atom, quantifier] = /^(\[ab\]|.)(.*)$/.exec(piece)!;
    const [min, max] = { '': [1, 1], '*': [0, 99], '+': [1, 99], '?': [0, 1], '{1,2}': [1, 2] }[
      quantifier!
    ]! as [number, number];
    return {
      accepts: (c: string | undefined) => c !== undefined && (atom === '[ab]' || c === atom),
      min,
      max,
    };
  });
  const match = (item: number, at: number): boolean => {
    steps++;
    const current = items[item];
    if (current === undefined) return true;
    let count = 0;
    while (count < current.max && current.accepts(text[at + count])) {
      count++;
      steps++;
    }
    for (; count >= current.min; count--) if (match(item + 1, at + count)) return true;
    return false;
  };
  for (let start = 0; start <= text.length; start++) if (match(0, start)) break;
  return steps;
}
