import { accepts } from '../kit/accepts.ts';
import { defined } from '../kit/defined.ts';
import { jsonSchemaOf } from '../kit/value-json-schema.ts';
import { type ValueSchema, type ValueShape, v } from '../kit/value-schema.ts';
import { LAYERS, type Layer } from '../results/run-result.ts';
import { QUERY_KEYS, ROOT_KEYS, runnerUnion, SHARED_KEYS } from './keys.ts';
import { LAYER_KEYS, type LayerKey } from './layer-keys.ts';
import { editorMetricsSchema } from './metric-schema.ts';
import { allowReferences } from './reference-schema.ts';

const optional = (shape: ValueShape): ValueShape => mapShape(shape, (schema) => schema.optional());
/** In a query, `null` switches off what `defaults` say. */
const removable = (shape: ValueShape): ValueShape =>
  mapShape(shape, (schema) => schema.nullable().optional());

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

function withBlocks(key: LayerKey, part: ValueSchema, schema: ValueSchema): ValueSchema {
  const { blocks } = key;
  if (blocks === undefined) return schema.keywords(emptyKeywords(key));
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
            turns: v
              .array(turn)
              .min(1)
              .optional()
              .describe('Checks on single turns of a conversation'),
            ...removable(sharedKeys),
            ...removable(layerSchemas(removable)),
          })
          .keywords({ anyOf: [{ required: ['query'] }, { required: ['conversation'] }] }),
      )
      .min(1),
  });
  return { ...onlyOurs(allowReferences(jsonSchemaOf(spec))), title: 'AgentCI spec' };
}

/** A suite of Assay is loaded as well, by its own rules. */
function onlyOurs({
  $schema,
  definitions,
  ...root
}: Record<string, unknown>): Record<string, unknown> {
  const isAssay = {
    required: ['tests'],
    not: { anyOf: [{ required: ['queries'] }, { required: ['agent'] }] },
  };
  return { ...defined({ $schema }), if: { type: 'object', ...isAssay }, else: root, definitions };
}

/** What a check says about an empty value when it looks closer, as keywords an editor knows. */
function emptyKeywords({ schema, inspect }: LayerKey): Readonly<Record<string, unknown>> {
  const isRefused = (empty: unknown, depth: number): boolean =>
    accepts(schema, empty) &&
    (inspect?.(empty, {}, '.') ?? []).some(
      (problem) => problem.severity !== 'warning' && (problem.path ?? []).length === depth,
    );
  return defined({
    minItems: isRefused([], 0) ? 1 : undefined,
    pattern: isRefused(' ', 0) ? '\\S' : undefined,
    allOf: isRefused([' '], 1) ? [{ items: { pattern: '\\S' } }] : undefined,
    minProperties: isRefused({}, 0) ? 1 : undefined,
  });
}
