import { z } from 'zod';
import type { ValueShape } from '../kit/value-schema.ts';
import { LAYERS, type Layer } from '../results/run-result.ts';
import { QUERY_KEYS, ROOT_KEYS, runnerUnion, SHARED_KEYS } from './keys.ts';
import { LAYER_KEYS } from './layer-keys.ts';
import { editorMetricsSchema } from './metric-schema.ts';
import { toZod } from './to-zod.ts';

type Shape = Record<string, z.ZodType>;

const zodShape = (shape: ValueShape): Shape =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, toZod(schema)]));

const optional = (shape: Shape): Shape => mapShape(shape, (schema) => schema.optional());
/** In a query, `null` switches off what `defaults` say. */
const removable = (shape: Shape): Shape => mapShape(shape, (schema) => schema.nullable().optional());

const mapShape = (shape: Shape, change: (schema: z.ZodType) => z.ZodType): Shape =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, change(schema)]));

const LAYER_SUMMARY: Readonly<Record<Layer, string>> = {
  correctness: 'Is the answer right? A violation fails the query',
  path: 'Did the agent get there the right way? A violation warns, a forbidden tool fails',
  cost: 'At the right price? A violation warns',
};

function layerSchemas(change: (shape: Shape) => Shape): Shape {
  const block = (layer: Layer): z.ZodType => {
    const keys = [...LAYER_KEYS[layer].values()];
    const shape = Object.fromEntries(
      keys.map((key) => [key.key, toZod((key.partialSchema ?? key.schema).describe(key.summary))]),
    );
    return z.strictObject(change(shape)).describe(LAYER_SUMMARY[layer]);
  };
  return Object.fromEntries(LAYERS.map((layer) => [layer, block(layer)]));
}

/** The spec as JSON Schema (draft 7, which editors know), made from the very definitions the loader checks with. */
export function specJsonSchema(): Record<string, unknown> {
  const { query, ...otherQueryKeys } = zodShape(QUERY_KEYS);
  const metrics = editorMetricsSchema();
  const sharedKeys = { ...zodShape(SHARED_KEYS), metrics };
  const spec = z.strictObject({
    version: z.literal(1).optional().describe('Version of the spec format'),
    ...optional({ ...zodShape(ROOT_KEYS), metrics }),
    agent: toZod(ROOT_KEYS.agent),
    runner: toZod(runnerUnion).optional().describe('How to get a trace for a query'),
    defaults: z
      .strictObject({ ...optional(sharedKeys), ...optional(layerSchemas(optional)) })
      .optional()
      .describe('What every query inherits; a query wins over it'),
    queries: z
      .array(
        z.strictObject({
          query: query!,
          ...optional(otherQueryKeys),
          ...removable(sharedKeys),
          ...removable(layerSchemas(removable)),
        }),
      )
      .min(1),
  });
  const schema = z.toJSONSchema(spec, { target: 'draft-7', io: 'input', unrepresentable: 'any' });
  return { ...(allowReferences(schema) as Record<string, unknown>), title: 'AgentCI spec' };
}

/** `$ref` may stand in every map of a spec, where the loader replaces it before anything is checked. */
function allowReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(allowReferences);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, allowReferences(value)]));
  if (copy.additionalProperties === false && typeof copy.properties === 'object') {
    copy.properties = { ...copy.properties, $ref: { type: 'string' } };
  }
  return copy;
}
