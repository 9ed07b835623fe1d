import { expect, test } from 'vitest';
import { draft7 } from './schema-fit.ts';
import { refusedBy } from './schema-strict.ts';

test.each([
  [{ type: 'object', requird: ['a'] }, 'the keyword "requird"'],
  [{ properties: { a: { minContains: 1 } } }, 'the keyword "minContains"'],
  [{ items: { anyOf: [{ type: 'string', pattern: '[' }] } }, 'the pattern "["'],
  [{ type: 'string', pattern: '\\-' }, 'the pattern "\\\\-"'],
  [{ patternProperties: { '(': {} } }, 'the pattern "("'],
  [{ format: 'phone' }, 'the format "phone"'],
  [{ if: { type: 'string' } }, '"if" without "then" or "else"'],
  [{ type: 'array', additionalItems: false }, '"additionalItems" without a list of items'],
  [{ nullable: true }, '"nullable" without "type"'],
])('%j is refused for %s', (schema, what) => {
  expect(refusedBy(schema)).toBe(what);
  expect(draft7(schema).kind).toBe('none');
});

test.each([
  {
    type: 'object',
    properties: { requird: { type: 'string', pattern: '^a' } },
    required: ['requird'],
  },
  { enum: [{ any: 'thing' }] },
  { const: { any: 'thing' } },
  { if: { type: 'string' }, then: { minLength: 1 } },
])('%j is read', (schema) => {
  expect(refusedBy(schema)).toBeUndefined();
});
