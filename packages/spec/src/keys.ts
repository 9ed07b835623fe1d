import { cassetteSchema } from '@agentci/capture';
import { didYouMean, sameWords } from '@agentci/lib/text';
import { v } from '@agentci/lib/values';
import { LAYERS } from '@agentci/results';
import { conversationSchema, stateSchema, turnsSchema } from './conversation.ts';
import { LAYER_KEYS } from './layer-keys.ts';
import { metricsSchema } from './metric-list.ts';
import { partialRubricSchema } from './rubric.ts';
import { MAX_TIMEOUT_MS, RUNNER_SCHEMAS } from './runner-config.ts';

const text = v.string().regex(/\S/);

const ensembleSchema = v.strictObject({
  enabled: v.boolean().optional().describe('false still allows --sample-ensemble'),
  models: v.array(text).min(1).optional().describe('The judges, with one vote each'),
  strategy: v.literal('majority_vote').optional(),
});

/** The model that scores answers, with settings for all rubrics. */
const judgeConfigSchema = v.strictObject({
  model: text.optional().describe('Model that judges'),
  temperature: v.number().min(0).max(2).optional().describe('Default: 0, so that verdicts repeat'),
  structured_output: v.boolean().optional(),
  base_url: v
    .string()
    .regex(/^https?:\/\/\S+$/, 'a URL starts with http:// or https://')
    .optional(),
  api_key_env: v
    .string()
    .regex(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'this is the name of an environment variable, never the key itself',
    )
    .optional()
    .describe('Name of the environment variable that holds the key'),
  timeout_ms: v.number().int().min(1).max(MAX_TIMEOUT_MS).optional(),
  retries: v.number().int().min(0).max(100).optional(),
  cache: v.boolean().optional().describe('Keep verdicts and reuse them'),
  ensemble: ensembleSchema.optional(),
});

export const policySchema = v
  .union([text, v.looseObject({})])
  .refine((policy) => typeof policy === 'string' || Object.keys(policy).length > 0, {
    message: 'empty, so it would allow everything',
    code: 'SPEC_EMPTY',
  })
  .keywords({ minProperties: 1 })
  .describe('Rules on tool calls: a file, or the policy itself');

const variableName = v
  .string()
  .regex(
    /^[^\s{}|](?:[^{}|\r\n]*[^\s{}|])?$/,
    'spaces at the ends, braces and bars do not fit between {{ and }}',
  )
  .max(100);

/**
 * Root keys with simple values. `defaults`, `queries`, `runner` and `version` have separate
 * readers.
 */
const varsSchema = v
  .record(variableName, v.unknown())
  .describe('Variables for {{name}} in the texts of queries. A row and the matrix override them');

const cellValue = v.union([text, v.number(), v.boolean()]);

export const ROOT_KEYS = {
  $schema: v.string().describe('For editors'),
  agent: text.describe('Name of the agent under test'),
  baseline_dir: text.describe('Folder of saved traces (default: ./baselines)'),
  baseline: text.describe('Version of the baseline to compare with'),
  use: v.array(text).min(1).describe('Modules with your own metrics'),
  judge_config: judgeConfigSchema,
  cassette: cassetteSchema,
  metrics: metricsSchema,
  policy: policySchema,
  vars: varsSchema,
  matrix: v
    .record(variableName, v.array(cellValue).min(1))
    .describe('Runs every query once for each combination of these values'),
  baseline_cell: v
    .record(variableName, cellValue)
    .describe(
      'The combination to compare the others with. One that passes significantly less often fails the run',
    ),
} as const;

export const ROOT_KEY_NAMES = [
  'version',
  ...Object.keys(ROOT_KEYS),
  'runner',
  'defaults',
  'queries',
];

/** Keys of both `defaults` and queries, besides the three layers. */
export const SHARED_KEYS = {
  tags: v.array(text).describe('For selecting queries with --tags'),
  runs: v.number().int().min(1).max(1000).describe('How often the query is run'),
  min_pass_rate: v.number().min(0).max(1).describe('Share of runs that must pass (default: 1)'),
  context: v
    .union([v.string(), v.array(v.string()).min(1)])
    .describe('Text the answer must be grounded in'),
  metadata: v
    .record(v.string(), v.unknown())
    .describe('Your own data, handed to the agent and to metrics'),
  metrics: metricsSchema,
  policy: policySchema,
  vars: varsSchema,
} as const;

/** Keys of a single query. */
export const QUERY_KEYS = {
  id: v
    .string()
    .max(100)
    .regex(
      /^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*$/,
      'an id is written in letters, digits, dots, dashes and underscores, and is not just punctuation',
    )
    .describe('Stable name, used for baselines and reports'),
  query: text.describe('What the agent is asked'),
  description: v.string().describe('For people'),
  expected_output: v.string().describe('Reference answer for metrics that compare'),
  xfail: v
    .string('xfail is a reason in words. Remove the key if the query is not expected to fail')
    .regex(/\S/)
    .describe('Why this query is expected to fail'),
  skip: v
    .string('skip is a reason in words. Remove the key to run the query')
    .regex(/\S/)
    .describe('Why this query is not run'),
  rows: v
    .union([text, v.array(v.record(variableName, v.unknown())).min(1)])
    .describe('One query for each row: a CSV, JSONL, JSON or YAML file, or a list of maps'),
  conversation: conversationSchema,
  turns: turnsSchema,
  state: stateSchema,
} as const;

export const runnerUnion = v.union(Object.values(RUNNER_SCHEMAS));

/** The place of each key of a spec, for hints about misplaced keys. */
function collectPlaces(): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const put = (keys: Iterable<string>, place: string): void => {
    for (const key of keys) if (!places.has(key)) places.set(key, place);
  };
  for (const layer of LAYERS) put(LAYER_KEYS[layer].keys(), `under "${layer}"`);
  put([...LAYERS, ...Object.keys(QUERY_KEYS), ...Object.keys(SHARED_KEYS)], 'in a query');
  put(ROOT_KEY_NAMES, 'at the root of the spec');
  put(Object.keys(partialRubricSchema.shape), 'in a rubric');
  put(Object.keys(judgeConfigSchema.shape), 'under "judge_config"');
  put(Object.keys(cassetteSchema.shape), 'under "cassette"');
  return places;
}

const PLACES = collectPlaces();

/** The hint for an unknown key: its right place, a similar key, or the list of all. */
export function unknownKeyHint(key: string, allowed: readonly string[]): string {
  const place = PLACES.get(key);
  if (place !== undefined) return `"${key}" belongs ${place}`;
  const near =
    sameWords(key, allowed) ??
    didYouMean(key, allowed) ??
    allowed.find((each) => isCutShort(key, each));
  if (near !== undefined) return `did you mean "${near}"?`;
  return allowed.length === 0
    ? 'no keys are known here'
    : `the keys known here: ${[...allowed].sort().join(', ')}`;
}

/** `timeout` for `timeout_ms`. */
const isCutShort = (key: string, whole: string): boolean =>
  key.length > 3 && whole.startsWith(`${key}_`);
