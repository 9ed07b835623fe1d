import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quickAccept } from './json-schema-accept.ts';

const leaf = fc.oneof(
  fc.record({
    type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', ['string', 'null']),
  }),
  fc.record({
    enum: fc.uniqueArray(
      fc.oneof(fc.constantFrom('a', 'ok'), fc.integer({ min: 0, max: 2 }), fc.constant(null)),
      {
        minLength: 1,
      },
    ),
  }),
  fc.record(
    {
      type: fc.constant('string'),
      minLength: fc.nat(3),
      maxLength: fc.integer({ min: 1, max: 4 }),
      pattern: fc.constantFrom('^a', 'b$', '^[0-9]{2}$'),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    { minimum: fc.integer({ min: -2, max: 1 }), maximum: fc.integer({ min: 0, max: 3 }) },
    { requiredKeys: [] },
  ),
  fc.record({ const: fc.constantFrom('a', 1, null, true) }),
);
const schemas = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'toString'), tie('schema'), {
          maxKeys: 3,
        }),
        required: fc.subarray(['a', 'b']),
        additionalProperties: fc.boolean(),
        title: fc.constant('t'),
      },
      { requiredKeys: ['type'] },
    ),
  ),
})).schema;
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('a', 'ab', 'ok', '12', '😀', '😀😀', 'a😀😀', 0, 1, 1.5, -3, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'toString'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('says yes exactly when the validator does', () => {
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const accept = quickAccept(schema);
      expect(accept).toBeDefined();
      expect(accept!(value)).toBe(
        new Validator(structuredClone(schema) as object, '2020-12').validate(value).valid,
      );
    }),
    { numRuns: 2000 },
  );
});

test.each([
  { $ref: '#' },
  { anyOf: [{}] },
  { format: 'email' },
  { type: 'object', properties: { a: { not: {} } } },
  { pattern: '(a+)+$' },
  { enum: [{}] },
])('leaves %j to the validator', (schema) => {
  expect(quickAccept(schema)).toBeUndefined();
});
