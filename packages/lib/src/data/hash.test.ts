import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, sha256Hex } from './hash.ts';
import { shortHash } from './short-hash.ts';

test('SHA-256 of the published example', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

function plainly(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(plainly).join(',')}]`;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${plainly(item)}`).join(',')}}`;
}

describe('canonical JSON', () => {
  test.each([
    [{ b: 1, a: [2, { d: null, c: 'x' }] }, '{"a":[2,{"c":"x","d":null}],"b":1}'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [[undefined], '[null]'],
    [{ n: Number.NaN, i: Number.NEGATIVE_INFINITY, z: -0 }, '{"i":"-Infinity","n":"NaN","z":0}'],
    [{ 10: 1, 9: 2 }, '{"10":1,"9":2}'],
    [{ 99: 1, 900: 2 }, '{"900":2,"99":1}'],
    [{ 9: 1, '!': 2 }, '{"!":2,"9":1}'],
    [
      [
        { b: 1, a: 2 },
        { d: 3, c: 4 },
      ],
      '[{"a":2,"b":1},{"c":4,"d":3}]',
    ],
    ['é"\n\\', JSON.stringify('é"\n\\')],
    ['', '""'],
    [[''], '[""]'],
    [['', ''], '["",""]'],
  ])('%j', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('the value itself stays as it was written', () => {
    const value = [{ b: 1, a: [{ d: 1, c: Number.NaN }] }, Number.NaN];
    const before = structuredClone(value);
    canonicalJson(value);
    expect(value).toEqual(before);
    expect(JSON.stringify(value)).toBe(JSON.stringify(before));
  });

  test('it is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('it is what writing every key in order gives, keys that are numbers or special included', () => {
    const key = fc.oneof(
      fc.constantFrom('10', '9', '0', '-1', '01', '__proto__', 'toJSON', 'b', 'a'),
      fc.string(),
    );
    const values = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constantFrom(null, undefined)),
        fc.array(tie('value')),
        fc.array(fc.tuple(key, tie('value'))).map((entries) => Object.fromEntries(entries)),
      ),
    })).value;
    fc.assert(
      fc.property(values, (value) => {
        expect(canonicalJson(value)).toBe(plainly(value));
      }),
    );
  });

  test('the order of keys does not matter', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      }),
    );
  });
});

test('a short hash is eight digits, the same every time, and tells ten thousand similar texts apart', () => {
  const hashes = Array.from({ length: 10_000 }, (_, i) =>
    shortHash(`Where does order ${i} ship to?`),
  );
  expect(hashes.every((hash) => /^[0-9a-f]{8}$/.test(hash))).toBe(true);
  expect(new Set(hashes).size).toBeGreaterThan(9_990);
  expect(shortHash('How do I install it?')).toBe(shortHash('How do I install it?'));
});
