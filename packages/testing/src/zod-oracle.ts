import type { ValueDef, ValueSchema } from '@agentci/lib/values';
import { z } from 'zod';

const made = new WeakMap<ValueSchema, z.ZodType>();

/** The same schema in zod, as an independent implementation to compare with. */
export function toZod(schema: ValueSchema): z.ZodType {
  let zod = made.get(schema);
  if (zod === undefined) {
    zod = convert(schema.def);
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
      return def.values.length === 1
        ? z.literal(def.values[0] ?? null)
        : z.enum(def.values as string[]);
    case 'array':
      return z
        .array(toZod(def.item))
        .min(def.min ?? 0)
        .max(def.max ?? Number.MAX_SAFE_INTEGER);
    case 'tuple':
      return z.tuple(def.items.map(toZod) as [z.ZodType, ...z.ZodType[]]);
    case 'object': {
      const shape = Object.fromEntries(
        Object.entries(def.shape).map(([key, value]) => [key, toZod(value)]),
      );
      if (typeof def.others === 'object') return z.object(shape).catchall(toZod(def.others));
      return def.others ? z.looseObject(shape) : z.strictObject(shape);
    }
    case 'record':
      return z.record(toZod(def.key) as z.ZodString, toZod(def.value));
    case 'union':
      return z.union(def.options.map(toZod) as [z.ZodType, ...z.ZodType[]]);
    case 'default':
      return toZod(def.inner).optional();
    case 'optional':
      return toZod(def.inner).optional();
    case 'nullable':
      return toZod(def.inner).nullable();
    case 'refined': {
      const { holds } = def.refinement;
      return toZod(def.inner).refine((value) => holds(value as never));
    }
    case 'when':
      return z.unknown().superRefine((value, context) => {
        if (!def.applies(value)) return;
        for (const issue of toZod(def.inner).safeParse(value).error?.issues ?? [])
          context.addIssue({ ...issue, code: 'custom' });
      });
  }
}

function text({ error, min, max, patterns }: ValueDef & { kind: 'string' }): z.ZodType {
  let schema = error === undefined ? z.string() : z.string(error);
  if (min !== undefined) schema = schema.min(min);
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
