import { expect, test } from 'vitest';
import { formatUsd } from './format-number.ts';

test.each([
  [0, '$0'],
  [12.345, '$12.35'],
  [0.0421, '$0.0421'],
  [0.0001, '$0.0001'],
  [0.0000421, '$0.000042'],
  [0.00000003, '$0.000000030'],
  [1e-300, '$0.000000000000'],
  [-0.00002, '$-0.000020'],
])('%d dollars are %s', (usd, text) => {
  expect(formatUsd(usd)).toBe(text);
});
