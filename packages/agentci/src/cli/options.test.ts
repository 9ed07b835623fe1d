import { describe, expect, test } from 'vitest';
import {
  collectList,
  duration,
  fraction,
  positiveNumber,
  someText,
  wholeNumber,
} from './options.ts';

describe('option values', () => {
  test.each([
    { read: () => collectList('a, b,,c', ['z']), value: ['z', 'a', 'b', 'c'] },
    { read: () => someText(' a '), value: ' a ' },
    { read: () => duration('1.5s'), value: 1500 },
    { read: () => duration('2m'), value: 120_000 },
    { read: () => duration('250ms'), value: 250 },
    { read: () => fraction('0.5'), value: 0.5 },
    { read: () => positiveNumber('0.01'), value: 0.01 },
    { read: () => wholeNumber(1)('7'), value: 7 },
  ])('$value', ({ read, value }) => {
    expect(read()).toEqual(value);
  });

  test.each([
    { what: 'tags of nothing', read: () => collectList(' , ') },
    { what: 'an empty tag, which would choose everything', read: () => collectList('') },
    { what: 'a blank filter, which would choose everything', read: () => someText('  ') },
    { what: 'a time without a unit', read: () => duration('5') },
    { what: 'no time at all', read: () => duration('0s') },
    { what: 'a time without end', read: () => duration('999999m') },
    { what: 'a share above 1', read: () => fraction('1.1') },
    { what: 'a negative amount', read: () => positiveNumber('-1') },
    { what: 'a number that is not whole', read: () => wholeNumber(1)('1.5') },
    { what: 'a number below the least', read: () => wholeNumber(1)('0') },
  ])('refuses $what', ({ read }) => {
    expect(read).toThrow();
  });
});
