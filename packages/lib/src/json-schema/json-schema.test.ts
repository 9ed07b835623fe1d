import { describe, expect, test } from 'vitest';
import { canFail, compileJsonSchema, type JsonSchemaVerdict } from './json-schema.ts';

function validate(schema: unknown, value: unknown): JsonSchemaVerdict {
  const result = compileJsonSchema(schema);
  if (!result.ok) throw new Error(`${result.path} ${result.message}`);
  return result.validate(value);
}

describe('compileJsonSchema', () => {
  const person = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 }, age: { type: 'integer', minimum: 0 } },
    required: ['name'],
    additionalProperties: false,
  };

  test.each([
    { value: { name: 'A' }, errors: [] },
    { value: { name: 'A', age: 3 }, errors: [] },
    { value: {}, errors: [{ path: '', keyword: 'required' }] },
    { value: { name: 'A', age: -1 }, errors: [{ path: '/age', keyword: 'minimum' }] },
    {
      value: { name: 1, x: 2 },
      errors: [
        { path: '/name', keyword: 'type' },
        { path: '', keyword: 'additionalProperties' },
      ],
    },
    { value: [], errors: [{ path: '', keyword: 'type' }] },
    {
      value: JSON.parse('{"name":"A","__proto__":1}'),
      errors: [{ path: '', keyword: 'additionalProperties' }],
    },
    {
      value: JSON.parse('{"name":"A","constructor":1}'),
      errors: [{ path: '', keyword: 'additionalProperties' }],
    },
  ])('says every part that is wrong with $value', ({ value, errors }) => {
    const verdict = validate(person, value);
    expect(verdict.valid).toBe(errors.length === 0);
    expect(verdict.errors.map(({ path, keyword }) => ({ path, keyword }))).toEqual(errors);
  });

  test.each([
    { why: 'an unknown type', schema: { type: 'strin' }, path: '/type' },
    { why: 'an unknown type in a list', schema: { type: ['string', 'text'] }, path: '/type' },
    {
      why: 'a nested unknown type',
      schema: { properties: { a: { type: 'int' } } },
      path: '/properties/a/type',
    },
    { why: 'a pattern that does not compile', schema: { pattern: '(' }, path: '/pattern' },
    {
      why: 'a property pattern that does not compile',
      schema: { patternProperties: { '[': {} } },
      path: '/patternProperties/[',
    },
    { why: 'required that is not a list', schema: { required: 'name' }, path: '/required' },
    { why: 'properties that is a list', schema: { properties: [] }, path: '/properties' },
    { why: 'a schema that is a text', schema: { items: 'string' }, path: '/items' },
    { why: 'a negative length', schema: { minLength: -1 }, path: '/minLength' },
    { why: 'an empty enum', schema: { enum: [] }, path: '/enum' },
    { why: 'an empty anyOf', schema: { anyOf: [] }, path: '/anyOf' },
    { why: 'a list of items in 2020-12', schema: { items: [{}] }, path: '/items' },
    { why: 'a reference to nothing', schema: { $ref: '#/$defs/a' }, path: '/$ref' },
    { why: 'a remote reference', schema: { $ref: 'https://example.com/a.json' }, path: '/$ref' },
    {
      why: 'a file reference',
      schema: { properties: { a: { $ref: 'other.json' } } },
      path: '/properties/a/$ref',
    },
    { why: 'a reference to itself', schema: { $ref: '#' }, path: '' },
    { why: 'a reference round a corner to itself', schema: { allOf: [{ $ref: '#' }] }, path: '' },
    { why: 'an unknown draft', schema: { $schema: 'https://example.com/s' }, path: '/$schema' },
    {
      why: 'a boolean bound outside draft 4',
      schema: { exclusiveMinimum: true },
      path: '/exclusiveMinimum',
    },
    { why: 'a number', schema: 5, path: '' },
    { why: 'null', schema: null, path: '' },
    { why: 'a list', schema: [], path: '' },
  ])('refuses $why', ({ schema, path }) => {
    const result = compileJsonSchema(schema);
    expect(result.ok ? 'compiled' : result.path).toBe(path);
  });

  test('reads the draft from $schema', () => {
    const draft4 = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      minimum: 1,
      exclusiveMinimum: true,
    };
    expect(validate(draft4, 1).valid).toBe(false);
    const draft7 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
    };
    expect(validate(draft7, [1]).valid).toBe(false);
    expect(validate({ prefixItems: [{ type: 'string' }] }, [1]).valid).toBe(false);
  });

  test('a recursive schema reads trees', () => {
    const tree = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } } },
      required: ['id'],
    };
    expect(validate(tree, { id: 1, children: [{ id: 2 }] }).valid).toBe(true);
    expect(validate(tree, { id: 1, children: [{}] }).errors).toMatchObject([
      { path: '/children/0', keyword: 'required' },
    ]);
  });

  test('leaves the schema as it was', () => {
    const schema = Object.freeze({
      $ref: '#/$defs/a',
      $defs: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
    });
    expect(validate(schema, 'x').valid).toBe(true);
    expect(Object.getOwnPropertyNames(schema)).toEqual(['$ref', '$defs']);
  });

  test('a pattern that only sloppy engines accept still works', () => {
    expect(validate({ pattern: '^[\\w\\-]+\\_x$' }, 'a-b_x').valid).toBe(true);
    expect(validate({ pattern: '^\\Aab\\Z' }, 'abc').valid).toBe(false);
  });
});

describe('hostile schemas and values', () => {
  test('a pattern that blows up is not known, and takes about a tenth of a second', () => {
    const start = performance.now();
    expect(validate({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`)).toEqual({
      valid: false,
      errors: [],
      timedOut: true,
    });
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  test('a format that blows up is not known', () => {
    const url = `http://${'a'.repeat(60)}`;
    expect(validate({ format: 'url' }, url).valid).toBe(false);
  });

  test('a value nested very deep is not known', () => {
    let value: unknown = {};
    for (let i = 0; i < 50_000; i++) value = { a: value };
    expect(validate({ properties: { a: { $ref: '#' } }, type: 'object' }, value)).toMatchObject({
      valid: false,
      timedOut: true,
    });
  });

  test('comparing all items with all stops in time', () => {
    const items = Array.from({ length: 100_000 }, (_, i) => i);
    const start = performance.now();
    expect(validate({ uniqueItems: true }, items).timedOut).toBe(true);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  test('a million wrong items do not end the program', () => {
    expect(validate({ items: { type: 'string' } }, new Array(300_000).fill(1)).valid).toBe(false);
  });

  test('a plain schema runs without the guard, thousands of times', () => {
    const compiled = compileJsonSchema({
      type: 'object',
      properties: {
        id: { type: 'string', pattern: '^[A-Z]{2}\\d+$' },
        total: { type: 'number', minimum: 0 },
      },
      required: ['id', 'total'],
    });
    if (!compiled.ok) throw new Error(compiled.message);
    const start = performance.now();
    for (let i = 0; i < 5_000; i++) compiled.validate({ id: `AB${i}`, total: i });
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

test.each([
  [{}, false],
  [true, false],
  [false, true],
  [{ title: 'x', description: 'y', default: 1, examples: [] }, false],
  [{ type: 'object' }, true],
  [{ type: ['array', 'boolean', 'null', 'number', 'object', 'string'] }, false],
  [{ properties: {} }, false],
  [{ properties: { a: {} } }, false],
  [{ properties: { a: { type: 'string' } } }, true],
  [{ required: [] }, false],
  [{ required: ['a'] }, true],
  [{ minLength: 0 }, false],
  [{ minLength: 1 }, true],
  [{ anyOf: [{ type: 'string' }, {}] }, false],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, true],
  [{ allOf: [{}, { const: 1 }] }, true],
  [{ not: {} }, true],
  [{ not: false }, false],
  [{ if: { type: 'string' } }, false],
  [JSON.parse('{"if":{"type":"string"},"then":{"minLength":2}}'), true],
  [JSON.parse('{"then":{"minLength":2}}'), false],
  [{ $ref: '#/$defs/a', $defs: { a: {} } }, false],
  [{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, true],
  [{ items: { $ref: '#' } }, false],
  [{ additionalProperties: false }, true],
  [{ contains: {}, minContains: 0 }, false],
  [{ propertes: { a: { type: 'string' } } }, false],
])('%j can fail: %s', (schema, expected) => {
  expect(canFail(schema)).toBe(expected);
});
