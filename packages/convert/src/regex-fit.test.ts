import { compileRegex } from '@agentci/lib/regex';
import { expect, test } from 'vitest';
import { javascriptFit } from './regex-fit.ts';

test.each([
  ['^The \\d+ (days|weeks)$', 'exact'],
  ['a.*b', 'exact'],
  ['^[^,]+,', 'exact'],
  ['colou?r', 'exact'],
  ['😀', 'exact'],
  ['(?=.*a)(?=.*b)', 'exact'],
  ['^.{5}$', 'close'],
  ['a.c', 'close'],
  ['[^,]{3}', 'close'],
  ['\\S{2,}', 'close'],
  ['😀+', 'close'],
  ['😀{2}', 'close'],
  ['[😀😁]', 'close'],
  ['\\Arefund', 'exact'],
  ['\\u{61}', 'exact'],
  ['\\07', 'none'],
  ['[\\1]', 'none'],
  ['a\\1', 'none'],
  ['\\c1', 'none'],
  ['\\k<a>', 'none'],
  ['\\ud83d', 'close'],
  ['[\\ud800-\\udfff]', 'close'],
  ['(?i)refund', 'none'],
  ['(', 'none'],
])('%s is %s', (pattern, verdict) => {
  expect(javascriptFit(pattern).verdict).toBe(verdict);
});

test.each([
  ['^\\z$', 'z'],
  ['^\\a$', 'a'],
  ['^\\A\\Z$', 'AZ'],
  ['^\\u{2}$', 'uu'],
  ['^\\p{L}$', 'p{L}'],
  ['^\\x4$', 'x4'],
  ['^[\\B\\q]+$', 'qB'],
  ['^\\\\z$', '\\z'],
])('%s finds %s here as in JavaScript', (pattern, text) => {
  const fit = javascriptFit(pattern);
  if (fit.verdict === 'none') throw new Error(fit.why);
  const compiled = compileRegex(fit.pattern);
  if (!compiled.ok) throw new Error(compiled.message);
  expect([fit.verdict, new RegExp(pattern).test(text), compiled.regex.test(text)]).toEqual([
    'exact',
    true,
    true,
  ]);
});
