import { expect, test } from 'vitest';
import { formatMeasure, formatMs, formatUsd } from './format-number.ts';

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

test.each([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [999.6, '1.00 s'],
  [9994, '9.99 s'],
  [9999, '10.0 s'],
  [59_940, '59.9 s'],
  [59_990, '1 min 00 s'],
  [125_000, '2 min 05 s'],
  [3_599_400, '59 min 59 s'],
  [3_600_000, '1 h'],
  [5_400_000, '1 h 30 min'],
  [86_400_000, '24 h'],
  [2_592_000_000, '30 d'],
  [2_599_200_000, '30 d 2 h'],
])('%d ms are %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text);
});

test.each([
  [1, 'questions', '1 question'],
  [0, 'questions', '0 questions'],
  [2, 'turns', '2 turns'],
  [1, 'turns', '1 turn'],
  [1.5, 'turns', '1.5 turns'],
  [1, 'ms', '1 ms'],
  [1, 'success', '1 success'],
] as const)('formats %s %s as %s', (value, unit, text) => {
  expect(formatMeasure(value, unit)).toBe(text);
});
