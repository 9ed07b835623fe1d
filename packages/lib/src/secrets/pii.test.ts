import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPii, maskPii, passesLuhn } from './pii.ts';
import { findByLibraries, needsLibraries } from './pii-libraries.ts';

const types = (text: string) =>
  findPii(text).map(({ type, start, end }) => [type, text.slice(start, end)]);

describe('findPii', () => {
  test.each([
    ['Write to a.b+c@mail.example.co.uk.', [['email', 'a.b+c@mail.example.co.uk']]],
    [
      'Call 555-123-4567, (555) 123-4567 or +1 555 123 4567',
      [
        ['phone', '555-123-4567'],
        ['phone', '(555) 123-4567'],
        ['phone', '+1 555 123 4567'],
      ],
    ],
    ['SSN 123-45-6789', [['ssn', '123-45-6789']]],
    ['card 4111 1111 1111 1111', [['credit_card', '4111 1111 1111 1111']]],
    ['amex 378282246310005', [['credit_card', '378282246310005']]],
    ['card 4111 1111 1111 1112, a digit wrong', [['credit_card', '4111 1111 1111 1112']]],
    ['number 1234567812345678 that no card begins with', [['credit_card', '1234567812345678']]],
    ['number 1234 5678 1234 5678', [['credit_card', '1234 5678 1234 5678']]],
    ['number 9999999999999999', [['credit_card', '9999999999999999']]],
    ['dots 4111.1111.1111.1112', [['credit_card', '4111.1111.1111.1112']]],
    ['dots 4111.1111.1111.1111', [['credit_card', '4111.1111.1111.1111']]],
    [
      'hidden 4111\u200b1111\u200b1111\u200b1111 here',
      [['credit_card', '4111\u200b1111\u200b1111\u200b1111']],
    ],
    [
      'wide ４１１１ １１１１ １１１１ １１１１ here',
      [['credit_card', '４１１１ １１１１ １１１１ １１１１']],
    ],
    [
      'no-break 4111\u00a01111\u20111111\u20131111',
      [['credit_card', '4111\u00a01111\u20111111\u20131111']],
    ],
    ['mail a\u200bb@exam\u00adple.com', [['email', 'a\u200bb@exam\u00adple.com']]],
    ['nothing 0000000000000000', []],
    ['Live at 12 Main St', [['address', '12 Main St']]],
    ['The server is 192.168.0.1.', [['ip_address', '192.168.0.1']]],
    ['version 1.2.3.400 and 1.2.3', []],
    ['It answers at 2001:db8::8a2e:370:7334.', [['ip_address', '2001:db8::8a2e:370:7334']]],
    ['at fe80:0:0:0:1:2:3:4', [['ip_address', 'fe80:0:0:0:1:2:3:4']]],
    ['at 12:30:45, ab::cd, 1::2::3 and aa:bb:cc:dd:ee:ff', []],
    ['Mail jörg@münchen.de', [['email', 'jörg@münchen.de']]],
    ['met José García', [['name', 'José García']]],
    [
      'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlIQ',
      [['api_key', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlIQ']],
    ],
    ['key sk-abcdefghijklmnop1234', [['api_key', 'sk-abcdefghijklmnop1234']]],
    ['Jane Doe called', [['name', 'Jane Doe']]],
    ['In Oslo. The Parcel is here', []],
    ['nothing to see', []],
    ['', []],
  ])('%s', (text, expected) => {
    expect(types(text)).toEqual(expected);
  });

  test('one span is one detection: nothing overlaps', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'a@b.co',
            '555-123-4567',
            'Jane Doe',
            '12 Main St',
            '4111111111111111',
            ' ',
            '1',
            'x',
          ),
        ),
        (parts) => {
          const spans = findPii(parts.join('')).toSorted((a, b) => a.start - b.start);
          for (const [i, span] of spans.entries())
            expect(span.start).toBeGreaterThanOrEqual(spans[i - 1]?.end ?? 0);
        },
      ),
    );
  });

  test.each([
    'a',
    'a.',
    'é',
    'eyJ',
    'a:',
    'a::',
    '1',
    '1 ',
    '1-',
    'Aa ',
    '1.1.',
    'A1',
    '@',
    'a@a.',
    '12 Aa ',
    '+1 ',
  ])('a text of 200,000 characters made of "%s" takes no time to speak of', (unit) => {
    const text = unit.repeat(Math.ceil(200_000 / unit.length));
    const started = performance.now();
    findPii(text);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('what libraries find', () => {
  const found = async (text: string, options = {}) =>
    (await findByLibraries(text, options)).map(({ type, start, end }) => [
      type,
      text.slice(start, end),
    ]);

  test.each([
    ['+44 20 7946 0958 is London', {}, [['phone', '+44 20 7946 0958']]],
    ['pay to DE89 3704 0044 0532 0130 00 PLEASE', {}, [['iban', 'DE89 3704 0044 0532 0130 00']]],
    ['DE89 3704 0044 0532 0130 01 is mistyped', {}, []],
    ['ring 030 123456 now', { phoneCountry: 'DE' }, [['phone', '030 123456']]],
    ['I met Sarah Connor in New York', { people: true }, [['name', 'Sarah Connor']]],
  ])('%s', async (text, options, expected) => {
    expect(needsLibraries(text, options)).toBe(true);
    expect(await found(text, options)).toEqual(expected);
  });

  test('an ordinary answer needs none', () => {
    expect(needsLibraries('Your parcel is in Oslo.', {})).toBe(false);
  });
});

describe('maskPii', () => {
  test.each([
    ['john.doe@example.com', undefined, 'jo****************om'],
    ['abcd', undefined, '****'],
    ['', undefined, ''],
    ['123-45-6789', 'ssn' as const, '***-**-****'],
    ['4111 1111 1111 1111', 'credit_card' as const, '****-****-****-****'],
  ])('%s', (value, type, masked) => {
    expect(maskPii(value, type)).toBe(masked);
  });
});

test.each([
  ['4111111111111111', true],
  ['4111111111111112', false],
  ['0000000000000000', false],
  ['41111', false],
])('Luhn of %s is %s', (digits, passes) => {
  expect(passesLuhn(digits)).toBe(passes);
});

test('a card that fails its check digit is a possible card, at lower confidence', () => {
  const [right] = findPii('4111111111111111');
  const [wrong] = findPii('4111-1111-1111-1112');
  expect([right?.confidence, wrong?.confidence]).toEqual([0.85, 0.4]);
});
