import type { CodeItem } from '@agentci/checks';
import { CHECKS, isOfLayer } from '@agentci/checks';
import type { Problem } from '@agentci/lib/problems';
import { type ValueSchema, v } from '@agentci/lib/values';
import { LAYERS, type Layer } from '@agentci/results';
import { codeFileIssues, type SpecFolder } from './files.ts';
import {
  inspectRubric,
  inspectRubrics,
  partialRubricSchema,
  type Rubric,
  rubricSchema,
} from './rubric.ts';

/** A key of a layer block: the schema of its value, and further checks. */
export interface LayerKey {
  readonly layer: Layer;
  readonly key: string;
  /** `layer.key`, the id of the check. */
  readonly id: string;
  readonly summary: string;
  readonly schema: ValueSchema;
  /** For `defaults`, whose maps a query may complete. */
  readonly partialSchema?: ValueSchema;
  /** A setting configures a check and is not a check itself. */
  readonly isSetting: boolean;
  /** The value is a block of checks of the same layer, or a list of them. */
  readonly blocks?: 'one' | 'list';
  /** `folder` is the spec's folder, for values that name files. */
  readonly inspect?: (
    value: unknown,
    siblings: Readonly<Record<string, unknown>>,
    folder: SpecFolder,
  ) => readonly Problem[];
}

type OwnKey = Omit<LayerKey, 'id'>;

const rubricKey = (key: string, summary: string): OwnKey => ({
  layer: 'correctness',
  key,
  summary,
  schema: rubricSchema,
  partialSchema: partialRubricSchema,
  isSetting: false,
  inspect: (value, _, folder) => inspectRubric(value as Rubric, folder),
});

/** Keys whose verdicts need a judge. Their parameters are validated here too. */
const JUDGED_KEYS: readonly OwnKey[] = [
  {
    layer: 'correctness',
    key: 'llm_judge',
    summary: 'A judge scores the answer against each rubric',
    schema: v.array(rubricSchema),
    isSetting: false,
    inspect: (value, _, folder) => inspectRubrics(value as readonly Rubric[], folder),
  },
  rubricKey('safety_check', 'A judge scores the answer against a safety rubric'),
  rubricKey(
    'hallucination_check',
    'A judge scores whether the answer is grounded in the captured context',
  ),
];

/** Files are checked if the folder of the spec is known. */
function withFiles(key: string, inspect: LayerKey['inspect']): LayerKey['inspect'] {
  if (key !== 'code') return inspect;
  return (value, _, folder) => [
    ...inspect!(value, {}, folder),
    ...codeFileIssues(value as CodeItem, folder),
  ];
}

function collectKeys(): Readonly<Record<Layer, ReadonlyMap<string, LayerKey>>> {
  const keys = { correctness: new Map(), path: new Map(), cost: new Map() } satisfies Record<
    Layer,
    Map<string, LayerKey>
  >;
  const put = (key: OwnKey): void => {
    const layer: Map<string, LayerKey> = keys[key.layer];
    if (!layer.has(key.key)) layer.set(key.key, { ...key, id: `${key.layer}.${key.key}` });
  };
  for (const check of CHECKS) {
    const { key, summary, schema } = check;
    const inspect = withFiles(key, check.inspect as LayerKey['inspect']);
    const blocks = 'blocks' in check ? check.blocks : undefined;
    for (const layer of LAYERS.filter((one) => isOfLayer(check, one)))
      put({
        layer,
        key,
        summary,
        schema,
        isSetting: 'setting' in check,
        inspect,
        blocks,
      });
  }
  JUDGED_KEYS.forEach(put);
  return keys;
}

/** Every key of every layer block, collected from the checks. A new check needs no change here. */
export const LAYER_KEYS = collectKeys();

export const isLayer = (key: string): key is Layer => (LAYERS as readonly string[]).includes(key);
