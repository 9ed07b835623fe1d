import { expect, test } from 'vitest';
import { decimal } from './decimal.ts';

test.each([
  ['0.5', 0.5],
  [' 12 ', 12],
  ['-1e3', -1000],
  ['.5', 0.5],
  ['5.', 5],
])('%j is a number', (text, value) => {
  expect(decimal(text)).toBe(value);
});

test.each(['0x10', '0b1', '0o7', 'Infinity', 'NaN', '', '1_000', '1,5', '1e'])(
  '%j is none',
  (text) => {
    expect(decimal(text)).toBeNaN();
  },
);
