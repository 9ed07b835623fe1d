import { describe, expect, test } from 'vitest';
import { compileJsonSchema } from './json-schema.ts';

describe('anchors belong to their resource', () => {
  const schema = {
    $id: 'https://example.com/schemas/base.json',
    $ref: '#size',
    $defs: {
      large: { $anchor: 'size', maximum: 10 },
      small: { $id: 'https://example.com/schemas/', $anchor: 'size', maximum: 2 },
    },
  };

  test.each([
    { value: 5, valid: true },
    { value: 50, valid: false },
  ])("$value: the document's own anchor decides ($valid)", ({ value, valid }) => {
    const compiled = compileJsonSchema(schema);
    expect(compiled.ok && compiled.validate(value).valid).toBe(valid);
  });

  test("an embedded resource's anchor is reached by its address", () => {
    const compiled = compileJsonSchema({ ...schema, $ref: 'https://example.com/schemas/#size' });
    expect(compiled.ok && [2, 3].map((value) => compiled.validate(value).valid)).toEqual([
      true,
      false,
    ]);
  });

  test('and not from outside by its name alone', () => {
    const { large: _, ...rest } = schema.$defs;
    expect(compileJsonSchema({ ...schema, $defs: rest })).toMatchObject({
      ok: false,
      message: expect.stringContaining('points to nothing'),
    });
  });
});
