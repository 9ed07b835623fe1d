import { z } from 'zod';

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]*$/, 'a metric is named in letters, digits and underscores');

const bound = z.union([
  z.number(),
  z.looseObject({
    min: z.number().optional(),
    max: z.number().optional(),
    severity: z.enum(['fail', 'warn']).optional(),
  }),
]);

const listItem = z.union([
  name,
  z.record(name, bound.nullable()).refine((item) => Object.keys(item).length === 1, {
    message: 'a list item names one metric; start each one with its own dash',
    params: { code: 'SPEC_TYPE' },
  }),
]);

/** `metrics:` in its spellings: a name is measured, a number is a bound, a map has bounds and parameters. */
export const metricsSchema = z.union([
  z.array(listItem).min(1),
  z.record(name, bound.nullable()).refine((metrics) => Object.keys(metrics).length > 0, {
    message: 'no metric is named',
    params: { code: 'SPEC_EMPTY' },
  }),
]);
