import { describe, expect, test } from 'vitest';
import { valueIssues } from './value-issues.ts';
import { type ValueSchema, v } from './value-schema.ts';

interface Row {
  readonly name: string;
  readonly schema: ValueSchema;
  readonly yes: readonly unknown[];
  readonly no: readonly unknown[];
}

const ROWS: readonly Row[] = [
  {
    name: 'text',
    schema: v.string().max(3).regex(/^a/),
    yes: ['a', 'abc'],
    no: ['', 'b', 'abcd', 1, null, undefined],
  },
  {
    name: 'a number',
    schema: v.number(),
    yes: [0, -1.5, 1e300],
    no: ['1', Number.NaN, Number.POSITIVE_INFINITY, null],
  },
  {
    name: 'a whole number',
    schema: v.int().min(0).max(9),
    yes: [0, 9, -0],
    no: [-1, 10, 1.5, '1', 2 ** 60],
  },
  { name: 'a number above 0', schema: v.number().positive(), yes: [0.1], no: [0, -0, -1] },
  {
    name: 'one of several words',
    schema: v.enum(['a', 'b']),
    yes: ['a'],
    no: ['c', 'toString', null],
  },
  { name: 'one value', schema: v.literal(true), yes: [true], no: [false, 'true', 1] },
  {
    name: 'a list',
    schema: v.array(v.string()).min(1),
    yes: [['a']],
    no: [[], [1], 'a', { 0: 'a', length: 1 }],
  },
  {
    name: 'a map with known keys',
    schema: v.strictObject({ a: v.int(), b: v.string().optional() }),
    yes: [{ a: 1 }, { a: 1, b: 'x' }, { a: 1, b: undefined }],
    no: [{}, { b: 'x' }, { a: 1, c: 2 }, { a: 1, toString: 2 }, [], null, Object.create({ a: 1 })],
  },
  {
    name: 'a map with further keys',
    schema: v.looseObject({ a: v.int().optional() }),
    yes: [{}, { z: 1 }],
    no: [{ a: 'x' }, []],
  },
  {
    name: 'a record',
    schema: v.record(v.string().regex(/^[a-z]+$/), v.number()),
    yes: [{}, { a: 1, constructor: 2 }],
    no: [{ A: 1 }, { a: 'x' }, []],
  },
  { name: 'a choice', schema: v.union([v.int(), v.string()]), yes: [1, 'x'], no: [1.5, null] },
  {
    name: 'values that may be null',
    schema: v.int().nullable(),
    yes: [null, 1],
    no: [undefined, 'x'],
  },
  {
    name: 'a condition',
    schema: v.int().refine((n) => n % 2 === 0, { message: 'even' }),
    yes: [2],
    no: [1, 'x'],
  },
  {
    name: 'a condition on some values',
    schema: v.when((value) => typeof value === 'number', v.int()),
    yes: [1, 'x', null],
    no: [1.5],
  },
];

describe.each(ROWS)('$name', ({ schema, yes, no }) => {
  test.each(yes.map((value) => [value] as const))('takes %j', (value) => {
    expect(valueIssues(schema, value)).toEqual([]);
  });
  test.each(no.map((value) => [value] as const))('does not take %j at once', (value) => {
    expect(valueIssues(schema, value)).not.toEqual([]);
  });
});

test('describing a schema or bounding it leaves the first one as it was', () => {
  const first = v.int();
  const second = first.min(1).describe('x');
  expect(valueIssues(first, 0)).toEqual([]);
  expect(valueIssues(second, 0)).not.toEqual([]);
  expect([first.notes.description, second.notes.description]).toEqual([undefined, 'x']);
});
