import { expect, test } from 'vitest';
import { jsonContains } from './json-compare.ts';

test.each([
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [[1, 2, 3], [3, 1], true],
  [[1, 2], [2, 2], false],
  [[{ amount: 10 }], [{ amount: 10 }, { amount: 10 }], false],
  [[{ amount: 10 }, { amount: 10, id: 2 }], [{ amount: 10 }, { amount: 10 }], true],
  // The first expected item must leave its match to the second, which fits nothing else.
  [[{ a: 1, b: 2 }, { a: 1 }], [{ a: 1 }, { a: 1, b: 2 }], true],
  [[{ a: 1, b: 2 }, { a: 1 }], [{ a: 1, b: 2 }, { b: 2 }], false],
  [{ list: [[1], [2]] }, { list: [[2], [1]] }, true],
])('%j contains %j: %s', (whole, part, expected) => {
  expect(jsonContains(whole, part)).toBe(expected);
});
