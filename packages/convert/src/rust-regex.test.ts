import { compileRegex } from '@agentci/lib/regex';
import { expect, test } from 'vitest';
import { rustFit } from './rust-regex.ts';

test.each([
  { pattern: '^order \\d+$', good: 'order ٣', bad: 'order x' },
  { pattern: '^\\w+$', good: 'café_9', bad: 'a b' },
  { pattern: '^[\\w.-]+$', good: 'é.x-y', bad: 'a b' },
  { pattern: '^\\W$', good: '-', bad: 'é' },
  { pattern: '^a\\sb$', good: 'a\u0085b', bad: 'a\ufeffb' },
  { pattern: '^[[:alnum:]]+$', good: 'aZ9', bad: 'é' },
  { pattern: '^[[:punct:]x]$', good: '/', bad: 'y' },
  { pattern: '^a.b$', good: 'a\rb', bad: 'a\nb' },
  { pattern: '^a.b$', flags: 's', good: 'a\nb', bad: 'ab' },
  { pattern: '(?i)^straße\\z', good: 'STRAßE', bad: 'strasse' },
  { pattern: '^\\x{1F600}$', good: '😀', bad: 'x' },
  { pattern: '^[]a]$', good: ']', bad: 'b' },
  { pattern: '^[-\\d]+$', good: '-5', bad: 'a' },
  { pattern: 'a{2,3}', good: 'aa', bad: 'a' },
])('$pattern is exact, and finds $good but not $bad', ({ pattern, flags = '', good, bad }) => {
  const fit = rustFit(pattern, flags);
  if (fit.verdict !== 'exact') throw new Error(JSON.stringify(fit));
  const compiled = compileRegex(fit.pattern);
  if (!compiled.ok) throw new Error(compiled.message);
  expect([compiled.regex.test(good), compiled.regex.test(bad)]).toEqual([true, false]);
});

test.each([
  ['\\bcafé\\b', 'close'],
  ['\\p{Lu}', 'close'],
  ['(?m)^a$', 'close'],
  ['(?x)a b', 'none'],
  ['a(?s:.)b', 'none'],
  ['(?=a)', 'none'],
  ['(a)\\1', 'none'],
  ['\\Zx', 'none'],
  ['[a-z&&[^b]]', 'none'],
  ['[a[bc]]', 'none'],
  ['[[:^alpha:]]', 'none'],
  ['[[:word]', 'none'],
  ['[^\\W_]', 'none'],
  ['a{', 'none'],
  ['[\\d-z]', 'none'],
  ['\\<a', 'none'],
  ['\\07', 'none'],
  ['(', 'none'],
])('%s is %s', (pattern, verdict) => {
  expect(rustFit(pattern, '').verdict).toBe(verdict);
});

test('the letters of a word are those that Unicode calls so', () => {
  const fit = rustFit('^\\w$', '');
  if (fit.verdict !== 'exact') throw new Error(fit.why);
  const ours = new RegExp(fit.pattern, 'u');
  const word = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;
  for (let code = 0; code < 0x20000; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const char = String.fromCodePoint(code);
    if (ours.test(char) !== word.test(char)) throw new Error(`U+${code.toString(16)}`);
  }
});
