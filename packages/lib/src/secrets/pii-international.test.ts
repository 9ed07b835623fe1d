import { describe, expect, test } from 'vitest';
import { findInternational } from './pii-international.ts';
import { findByLibraries } from './pii-libraries.ts';

const found = (text: string): string[] =>
  findInternational(text).map(({ type, start, end }) => `${type} ${text.slice(start, end)}`);

describe('international numbers are found without a library', () => {
  test.each<[string, string[]]>([
    ['DE52370400440698142753', ['iban DE52370400440698142753']],
    ['Please pay to IBAN DE52 3704 0044 0698 1427 53.', ['iban DE52 3704 0044 0698 1427 53']],
    ['pay NL64 INGB 0783 2196 45 NOW PLEASE', ['iban NL64 INGB 0783 2196 45']],
    ['gb82west12345698765432', ['iban gb82west12345698765432']],
    ['FR76-3000-6000-0112-3456-7890-189', ['iban FR76-3000-6000-0112-3456-7890-189']],
    ['call +49 30 901820 today', ['phone +49 30 901820']],
    ['+1 (415) 555-2671', ['phone +1 (415) 555-2671']],
    ['DE52370400440698142754 has a wrong digit', []],
    ['ZZ52370400440698142753 is of no country', []],
    ['DE5237040044069814275 is short', []],
    ['1 +12 and a+4930901820', []],
    ['+1234567890123456789 has too many digits', []],
  ])('%s', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test.each([
    'to IBAN CH93 0076 2011 6238 5295 7 or MT84MALT011000012345MTLCAST001S',
    'NO9386011117947, BE68 5390 0754 7034, ES91 2100 0418 4502 0005 1332',
    'ring +44 20 7946 0958, +81 3-1234-5678, +290 22158 or +33 1 23 45 67 89',
    'nothing: AB12 CDEF 0000 0000, +0 123 456 789, 12:30',
  ])('what the libraries find is found: %s', async (text) => {
    const libraries = await findByLibraries(text, {});
    expect(found(text)).toEqual(
      expect.arrayContaining(
        libraries.map(({ type, start, end }) => `${type} ${text.slice(start, end)}`),
      ),
    );
  });

  test('a hostile text costs time in proportion to its length', () => {
    const started = performance.now();
    findInternational('DE52 '.repeat(40_000));
    findInternational('+1 '.repeat(60_000));
    expect(performance.now() - started).toBeLessThan(1500);
  });
});
