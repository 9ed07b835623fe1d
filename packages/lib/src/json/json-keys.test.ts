import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findDuplicateKey } from './json-keys.ts';

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
