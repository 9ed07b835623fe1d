import { z } from 'zod';
import type { ValueDef, ValueSchema } from '../kit/value-schema.ts';

const made = new WeakMap<ValueSchema, z.ZodType>();

/** The same schema in zod, which says what is wrong with a value and writes JSON Schema. Made once, when first asked for. */
export function toZod(schema: ValueSchema): z.ZodType {
  let zod = made.get(schema);
  if (zod === undefined) {
    const { description, keywords } = schema.notes;
    zod = convert(schema.def);
    if (keywords !== undefined) zod = zod.meta(keywords);
    if (description !== undefined) zod = zod.describe(description);
    made.set(schema, zod);
  }
  return zod;
}

function convert(def: ValueDef): z.ZodType {
  switch (def.kind) {
    case 'string':
      return text(def);
    case 'number':
      return number(def);
    case 'boolean':
      return z.boolean();
    case 'unknown':
      return z.unknown();
    case 'enum':
      return def.values.length === 1 ? z.literal(def.values[0]!) : z.enum(def.values as string[]);
    case 'array':
      return def.min === undefined ? z.array(toZod(def.item)) : z.array(toZod(def.item)).min(def.min);
    case 'object': {
      const shape = Object.fromEntries(Object.entries(def.shape).map(([key, value]) => [key, toZod(value)]));
      return def.isStrict ? z.strictObject(shape) : z.looseObject(shape);
    }
    case 'record':
      return z.record(toZod(def.key) as z.ZodString, toZod(def.value));
    case 'union':
      return z.union(def.options.map(toZod) as [z.ZodType, ...z.ZodType[]]);
    case 'optional':
      return toZod(def.inner).optional();
    case 'nullable':
      return toZod(def.inner).nullable();
    case 'refined': {
      const { holds, message, code } = def.refinement;
      const params = code === undefined ? {} : { params: { code } };
      return toZod(def.inner).refine((value) => holds(value as never), { message, ...params });
    }
    case 'when':
      return z.unknown().superRefine((value, context) => {
        if (!def.applies(value)) return;
        for (const issue of toZod(def.inner).safeParse(value).error?.issues ?? [])
          context.addIssue({ ...issue, code: 'custom' });
      });
  }
}

function text({ error, max, patterns }: ValueDef & { kind: 'string' }): z.ZodType {
  let schema = error === undefined ? z.string() : z.string(error);
  if (max !== undefined) schema = schema.max(max);
  for (const { pattern, message } of patterns) schema = schema.regex(pattern, message);
  return schema;
}

function number({ integer, min, max, above }: ValueDef & { kind: 'number' }): z.ZodType {
  let schema = z.number();
  if (integer === true) schema = schema.int();
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  if (above !== undefined) schema = schema.gt(above);
  return schema;
}
