import { defined } from '@agentci/lib/data';
import {
  jsonSchemaOf,
  type ValueSchema,
  type ValueShape,
  v,
  valueIssues,
} from '@agentci/lib/values';
import type { Metric } from '@agentci/metrics';
import { isOwnParams, METRICS } from '@agentci/metrics';
import { LAYERS, type Layer } from '@agentci/results';
import { SpecFolder } from './files.ts';
import { QUERY_KEYS, ROOT_KEYS, runnerUnion, SHARED_KEYS } from './keys.ts';
import { LAYER_KEYS, type LayerKey } from './layer-keys.ts';
import { listItemCount, metricBound, metricName } from './metric-list.ts';

const optional = (shape: ValueShape): ValueShape => mapShape(shape, (schema) => schema.optional());
/** In a query, `null` removes a value of `defaults`. */
const removable = (shape: ValueShape): ValueShape =>
  mapShape(shape, (schema) => schema.nullable().optional());

const mapShape = (shape: ValueShape, change: (schema: ValueSchema) => ValueSchema): ValueShape =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, change(schema)]));

const LAYER_SUMMARY: Readonly<Record<Layer, string>> = {
  correctness: 'Is the answer right? A violation fails the query',
  path: 'Did the agent get there the right way? A violation warns, a forbidden tool fails',
  cost: 'At the right price? A violation warns',
};

/** The content of a combinator: the keys of the layer again, at any depth. */
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

/**
 * The spec as JSON Schema (draft 7, which editors support), built from the definitions of the
 * loader.
 */
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
      .describe('Values that every query inherits and can override'),
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

/** An Assay suite is loaded too, by its own rules. */
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

/** The check for empty values as keywords for editors. */
function emptyKeywords({ schema, inspect }: LayerKey): Readonly<Record<string, unknown>> {
  const isRefused = (empty: unknown, depth: number): boolean =>
    valueIssues(schema, empty).length === 0 &&
    (inspect?.(empty, {}, new SpecFolder('.')) ?? []).some(
      (problem) => problem.severity !== 'warning' && (problem.path ?? []).length === depth,
    );
  return defined({
    minItems: isRefused([], 0) ? 1 : undefined,
    pattern: isRefused(' ', 0) ? '\\S' : undefined,
    allOf: isRefused([' '], 1) ? [{ items: { pattern: '\\S' } }] : undefined,
    minProperties: isRefused({}, 0) ? 1 : undefined,
  });
}

/**
 * `metrics:` for editors: the catalog's names with their parameters, for completion and
 * documentation, and any other name, because a module under `use` may define it. The loader checks
 * with `metricsSchema` and the metric itself instead, because a schema with the whole catalog would
 * have to be built for every spec.
 */
function editorMetricsSchema(): ValueSchema {
  const known = Object.fromEntries(
    METRICS.map((metric) => [metric.name, entryOf(metric).optional()]),
  );
  const map = v
    .objectOf(known, metricBound.nullable())
    .named('metric_map')
    .keywords({ propertyNames: { type: 'string', pattern: metricName.source } });
  const names = METRICS.map(({ name }) => name) as [string, ...string[]];
  const bounded = (minProperties: number, maxProperties?: number): ValueSchema =>
    map.refine(() => true, { message: '' }).keywords({ minProperties, maxProperties });
  const item = bounded(listItemCount, listItemCount);
  const list = v.array(v.union([v.enum(names), v.string().regex(metricName), item]));
  return v
    .union([list.min(1), bounded(1)])
    .named('metrics')
    .describe('Metrics to measure. A metric with a limit is a check');
}

/**
 * A number is a limit. A map has limits and the metric's own parameters. An empty value only
 * measures.
 */
function entryOf({ summary, better, scale, unit, params }: Metric): ValueSchema {
  const limit = scale === 'fraction' ? v.number().min(0).max(1) : v.number();
  const own = params?.();
  const shape = own !== undefined && isOwnParams(own) ? own.shape : undefined;
  const map = v.strictObject({
    min: limit.optional().describe('The check misses below it'),
    max: limit.optional().describe('The check misses above it'),
    severity: v.enum(['fail', 'warn']).optional().describe('What a missed bound means'),
    ...shape,
  });
  const side = better === 'higher' ? 'at least' : 'at most';
  return v
    .union([limit, map, v.null()])
    .describe(`${summary} (${unit || 'a number'}; a number alone is "${side}")`);
}

type JsonSchema = Record<string, unknown>;

/**
 * Placeholders that the loader replaces. A JSON Schema only sees the text of `!include
 * rubrics.yaml`: a file name, or a pointer.
 */
const STAND_INS: Readonly<Record<string, JsonSchema>> = {
  variable: { type: 'string', pattern: '\\{\\{[^{}]+\\}\\}' },
  include: { type: 'string', pattern: '\\.(ya?ml|json)(#.*)?$|^\\S+\\.[A-Za-z]\\w*(#\\S*)?$|#/' },
  reference: { type: 'object', required: ['$ref'], properties: { $ref: { type: 'string' } } },
};
/**
 * Texts accept any file name already. Maps with known keys accept `$ref`, so that the keys next to
 * it are checked.
 */
const KINDS = {
  for_text: ['variable', 'reference'],
  for_map: ['variable', 'include'],
  for_value: ['variable', 'include', 'reference'],
} as const;
type Kind = keyof typeof KINDS;

const pointTo = (id: string): JsonSchema => ({ $ref: `#/definitions/${id}` });

const VALUE_KEYWORDS = ['items', 'additionalProperties'] as const;

/**
 * A JSON Schema of a spec that allows `!include`, `$ref` and `{{variable}}` in the same places as
 * the loader.
 */
function allowReferences(schema: JsonSchema): JsonSchema {
  const { definitions = {}, ...root } = schema as { definitions?: Record<string, JsonSchema> };
  const resolve = (ref: string): JsonSchema =>
    definitions[ref.slice('#/definitions/'.length)] ?? {};
  const writer = new ReferenceWriter(resolve);
  return {
    ...writer.inside(root),
    definitions: {
      ...Object.fromEntries(
        Object.entries(definitions).map(([id, one]) => [id, writer.inside(one)]),
      ),
      ...mapValues(KINDS, (names) => ({
        anyOf: (names as readonly string[]).map((name) => STAND_INS[name]),
      })),
    },
  };
}

class ReferenceWriter {
  readonly #resolve: (ref: string) => JsonSchema;

  constructor(resolve: (ref: string) => JsonSchema) {
    this.#resolve = resolve;
  }

  /** A value that can be replaced by a placeholder. */
  #value(schema: unknown): unknown {
    if (!isSchema(schema) || Object.keys(schema).length === 0) return schema;
    const { description, default: usual, ...rest } = this.inside(schema);
    const condition = pointTo(this.#kindOf(schema));
    const notes = {
      description,
      default: usual,
    };
    return { ...notes, if: condition, else: rest };
  }

  #kindOf(schema: JsonSchema): Kind {
    if (schema.type === 'string' && schema.enum === undefined && schema.const === undefined)
      return 'for_text';
    return this.#takesReferences(schema) ? 'for_map' : 'for_value';
  }

  /** The same schema with placeholders allowed for every value below it. */
  inside(schema: JsonSchema): JsonSchema {
    const copy: JsonSchema = { ...schema };
    if (isSchema(copy.properties))
      copy.properties = mapValues(copy.properties, (one) => this.#value(one));
    for (const key of VALUE_KEYWORDS) {
      const value = copy[key];
      if (Array.isArray(value)) copy[key] = value.map((one) => this.#value(one));
      else if (isSchema(value)) copy[key] = this.#value(value);
    }
    for (const key of ['anyOf', 'allOf', 'oneOf'])
      if (Array.isArray(copy[key]))
        copy[key] = copy[key].map((one) => (isSchema(one) ? this.inside(one) : one));
    return isClosedMap(copy) ? withReference(copy) : copy;
  }

  /**
   * Whether a map with `$ref` is already one of its cases, where the other keys are still checked.
   */
  #takesReferences(schema: JsonSchema, depth = 0): boolean {
    if (depth > 8) return false;
    if (isClosedMap(schema)) return true;
    if (typeof schema.$ref === 'string')
      return this.#takesReferences(this.#resolve(schema.$ref), depth + 1);
    return ['anyOf', 'allOf', 'oneOf'].some((key) => {
      const cases = schema[key];
      return (
        Array.isArray(cases) &&
        cases.some((one) => isSchema(one) && this.#takesReferences(one, depth + 1))
      );
    });
  }
}

/** Keys next to `$ref` override its target: each is checked, but the map as a whole is not. */
function withReference({
  type,
  properties,
  additionalProperties,
  ...asked
}: JsonSchema): JsonSchema {
  const { description, title, ...rest } = asked;
  return {
    type,
    description,
    title,
    properties: { ...(properties as JsonSchema), $ref: { type: 'string' } },
    additionalProperties,
    if: Object.keys(rest).length === 0 ? undefined : { required: ['$ref'] },
    else: Object.keys(rest).length === 0 ? undefined : rest,
  };
}

const isClosedMap = (schema: JsonSchema): boolean =>
  schema.additionalProperties === false && isSchema(schema.properties);

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mapValues = (object: JsonSchema, change: (value: unknown) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
