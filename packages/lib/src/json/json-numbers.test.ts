import { describe, expect, test } from 'vitest';
import { findInexactNumber } from './json-numbers.ts';

describe('a number that two readers take for two', () => {
  test.each([
    ['{"a": 9007199254740993}', '9007199254740993'],
    ['[1, 100.000000000000001]', '100.000000000000001'],
    ['1e400', '1e400'],
    ['[-123456789012345678901]', '-123456789012345678901'],
    ['{"a":[{"b":0.1000000000000000055511151231257827}]}', '0.1000000000000000055511151231257827'],
    ['1e-400', '1e-400'],
  ])('%s', (text, number) => {
    expect(findInexactNumber(text)).toBe(number);
  });

  test.each([
    '{"a": 9007199254740992, "b": "9007199254740993", "9007199254740993": 1}',
    '[0, -0, 1.0, 1e2, 1E+2, 0.1, 123456789.125, 1000000000000000000000, 1.7976931348623157e308, 5e-324]',
    '{"text": "a \\" 1e400", "n": -12.5e-3}',
  ])('none in %s', (text) => {
    expect(findInexactNumber(text)).toBeUndefined();
  });
});
