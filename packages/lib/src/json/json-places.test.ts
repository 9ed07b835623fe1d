import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonParts } from './json-places.ts';

test('finds every value of a list or map at its position', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
      fc.nat(3),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const parts = [...jsonParts(text)];
        const read = parts.map(({ start, end }) => JSON.parse(text.slice(start, end)) as unknown);
        const plain = JSON.parse(text) as object;
        expect(read).toEqual(Object.values(plain));
        if (!Array.isArray(plain)) expect(parts.map(({ key }) => key)).toEqual(Object.keys(plain));
      },
    ),
    { numRuns: 1000 },
  );
});

test.each(['7', '"text"', 'null', ''])('%j has no parts', (text) => {
  expect([...jsonParts(text)]).toEqual([]);
});
