import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from './exact-json.ts';

describe('numbers that JavaScript rounds keep their digits', () => {
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '0.12345678901234567890123',
    '1e400',
    '-1E-400',
    '123456789.1234567890123',
  ])('%s', (token) => {
    expect(parseExact(`{"id": ${token}}`)).toEqual({ id: { $number: token } });
    expect(stringifyExact(parseExact(`[${token}]`))).toBe(`[${token}]`);
  });

  it.each([
    ['9007199254740992', 9007199254740992],
    ['1.0000000000000000', 1],
    ['0.1', 0.1],
    ['100000000000000000000000', 1e23],
    ['1E+2', 100],
    ['0e999', 0],
    ['1234567890.123456', 1234567890.123456],
  ])('%s is a number like any other', (token, value) => {
    expect(parseExact(token)).toBe(value);
  });
});

it.each([
  '{"$number":"9007199254740993"}',
  '{"$$number":"1","$number":9007199254740993}',
  '{"a":"{\\"$number\\":\\"1\\"}, 9007199254740993"}',
  '{"\\\\":"\\"","$number":[9007199254740993]}',
])('a field that is really called so is not one of them, and comes back as it was: %s', (text) => {
  expect(stringifyExact(parseExact(text))).toBe(text);
  expect(parseExact('{"$number":"9007199254740993"}')).not.toEqual(parseExact('9007199254740993'));
});

it('a field written with an escape is found too', () => {
  expect(parseExact('{"\\u0024number":"1"}')).toEqual({ $$number: '1' });
});

it('everything else is read and written as ever', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseExact(text)).toEqual(JSON.parse(text));
      expect(stringifyExact(parseExact(text))).toBe(text);
    }),
  );
});
