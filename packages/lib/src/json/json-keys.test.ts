import fc from 'fast-check';
import { expect, test } from 'vitest';
import { duplicateKeyIn, findDuplicateKey, parseUnambiguous } from './json-keys.ts';

test.each([
  { text: '{"a":1,"a":2}', found: { key: 'a', offset: 7 } },
  { text: '{"a":{"b":1,"b":2}}', found: { key: 'b', offset: 12 } },
  { text: '{"a":1,"\\u0061":2}', found: { key: 'a', offset: 7 } },
  { text: '[{"a":1},{"a":2}]', found: undefined },
  { text: '{"a":["a","a"],"b":"a"}', found: undefined },
  { text: '{"a":"{\\"b\\":1,\\"b\\":2}"}', found: undefined },
  { text: '{"a":[{"x":1}],"b":{"a":1}}', found: undefined },
])('$text has $found', ({ text, found }) => {
  expect(findDuplicateKey(text)).toEqual(found);
});

test('what JSON.stringify writes never has a key twice', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => findDuplicateKey(JSON.stringify(value)) === undefined),
  );
});

/** JSON texts with random keys, some duplicated, with random escapes and spacing. */
const written: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 0 }).map((value) => JSON.stringify(value)),
    fc.string().map((text) => JSON.stringify(`${text}\\": "`)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom('"a"', '"\\u0061"', '"b\\\\"', '":"', '"c"'), tie('value')), {
      maxLength: 4,
    })
    .map((entries) => `{${entries.map(([key, value]) => `${key} : ${value}`).join(',')}}`),
})).object;

test('the quick look finds a doubled key in exactly the texts in which the close look does', () => {
  fc.assert(
    fc.property(written, (text) => {
      expect(duplicateKeyIn(text, JSON.parse(text))).toEqual(findDuplicateKey(text));
    }),
    { numRuns: 500 },
  );
});

test.each([
  { text: '{"a":1}', value: { a: 1 } },
  { text: 'null', value: null },
  { text: '{"a":1,"a":2}', value: undefined },
  { text: '{"a":', value: undefined },
  { text: `${'['.repeat(600)}${']'.repeat(600)}`, value: undefined },
])('$text is read as $value', ({ text, value }) => {
  expect(parseUnambiguous(text)).toEqual(value);
});
