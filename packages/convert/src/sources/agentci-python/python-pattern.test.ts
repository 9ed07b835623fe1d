import { compileRegex } from '@agentci/lib/regex';
import { expect, test } from 'vitest';
import { pythonPattern } from './python-pattern.ts';

test.each([
  { pattern: '^done$', good: 'done\n', bad: 'done\n\n' },
  { pattern: 'no|done$', good: 'done\n', bad: 'done.' },
  { pattern: '^a.b', good: 'a\rb', bad: 'a\nb' },
  { pattern: '(?s)^a.b$', good: 'a\nb\n', bad: 'ab' },
  { pattern: '^[.$]\\$', good: '$$', bad: 'x$' },
])('$pattern finds $good but not $bad', ({ pattern, good, bad }) => {
  const made = pythonPattern(pattern);
  expect(made.close).toBeUndefined();
  const compiled = compileRegex(made.pattern);
  if (!compiled.ok) throw new Error(compiled.message);
  expect([compiled.regex.test(good), compiled.regex.test(bad)]).toEqual([true, false]);
});

test.each(['\\d+', '\\bfoo', '(a$)b', 'a$|b', '(?m)^a', '(?i)é', '[]a]', '(?i:a)', '(?x)a b'])(
  '%s is close',
  (pattern) => {
    expect(pythonPattern(pattern).close).toBeDefined();
  },
);
