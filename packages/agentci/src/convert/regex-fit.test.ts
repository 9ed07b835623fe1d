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
  ['\\Arefund', 'close'],
  ['\\u{61}', 'close'],
  ['(?i)refund', 'none'],
  ['(', 'none'],
])('%s is %s', (pattern, verdict) => {
  expect(javascriptFit(pattern).verdict).toBe(verdict);
});
