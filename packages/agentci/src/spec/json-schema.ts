import { jsonSchemaOf } from '../kit/value-json-schema.ts';
import { type ValueSchema, type ValueShape, v } from '../kit/value-schema.ts';
import { LAYERS, type Layer } from '../results/run-result.ts';
import { QUERY_KEYS, ROOT_KEYS, runnerUnion, SHARED_KEYS } from './keys.ts';
import { LAYER_KEYS, type LayerKey } from './layer-keys.ts';
import { editorMetricsSchema } from './metric-schema.ts';

const optional = (shape: ValueShape): ValueShape => mapShape(shape, (schema) => schema.optional());
/** In a query, `null` switches off what `defaults` say. */
const removable = (shape: ValueShape): ValueShape => mapShape(shape, (schema) => schema.nullable().optional());

const mapShape = (shape: ValueShape, change: (schema: ValueSchema) => ValueSchema): ValueShape =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, change(schema)]));

const LAYER_SUMMARY: Readonly<Record<Layer, string>> = {
  correctness: 'Is the answer right? A violation fails the query',
  path: 'Did the agent get there the right way? A violation warns, a forbidden tool fails',
  cost: 'At the right price? A violation warns',
};

/** What may be inside a combinator: the keys of the layer again, as deep as one likes. */
function partOf(layer: Layer): ValueSchema {
  const id = `${layer}_part`;
  const itself = v.unknown().keywords({ $ref: `#/definitions/${id}` });
  const keys = [...LAYER_KEYS[layer].values()];
  const shape = Object.fromEntries(
    keys.map((key) => [key.key, withBlocks(key, itself, key.schema).describe(key.summary)]),
  );
  return v.strictObject(optional(shape)).named(id);
}

function withBlocks({ blocks }: LayerKey, part: ValueSchema, schema: ValueSchema): ValueSchema {
  if (blocks === undefined) return schema;
  return blocks === 'list' ? v.array(part).min(1) : part;
}

function layerSchemas(change: (shape: ValueShape) => ValueShape): ValueShape {
  const block = (layer: Layer): ValueSchema => {
    const keys = [...LAYER_KEYS[layer].values()];
    const shape = Object.fromEntries(
      keys.map((key) => [
        key.key,
        withBlocks(key, partOf(layer), key.partialSchema ?? key.schema).describe(key.summary),
      ]),
    );
    return v.strictObject(change(shape)).describe(LAYER_SUMMARY[layer]);
  };
  return Object.fromEntries(LAYERS.map((layer) => [layer, block(layer)]));
}

/** The spec as JSON Schema (draft 7, which editors know), made from the very definitions the loader checks with. */
export function specJsonSchema(): Record<string, unknown> {
  const { query, turns: _, ...otherQueryKeys } = QUERY_KEYS;
  const turn = v.strictObject({
    turn: v.number().int().min(1).describe('Which turn, from 1'),
    ...optional(Object.fromEntries(LAYERS.map((layer) => [layer, partOf(layer)]))),
  });
  const metrics = editorMetricsSchema();
  const sharedKeys = { ...SHARED_KEYS, metrics };
  const spec = v.strictObject({
    version: v.literal(1).optional().describe('Version of the spec format'),
    ...optional({ ...ROOT_KEYS, metrics }),
    agent: ROOT_KEYS.agent,
    runner: runnerUnion.optional().describe('How to get a trace for a query'),
    defaults: v
      .strictObject({ ...optional(sharedKeys), ...optional(layerSchemas(optional)) })
      .optional()
      .describe('What every query inherits; a query wins over it'),
    queries: v
      .array(
        v
          .strictObject({
            query: query.optional(),
            ...optional(otherQueryKeys),
            turns: v.array(turn).min(1).optional().describe('Checks on single turns of a conversation'),
            ...removable(sharedKeys),
            ...removable(layerSchemas(removable)),
          })
          .keywords({ anyOf: [{ required: ['query'] }, { required: ['conversation'] }] }),
      )
      .min(1),
  });
  return { ...(allowReferences(jsonSchemaOf(spec)) as Record<string, unknown>), title: 'AgentCI spec' };
}

/** `$ref` may be in every map of a spec, where the loader replaces it before anything is checked. */
function allowReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(allowReferences);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, allowReferences(value)]));
  if (copy.additionalProperties === false && typeof copy.properties === 'object') {
    copy.properties = { ...copy.properties, $ref: { type: 'string' } };
  }
  return copy;
}
