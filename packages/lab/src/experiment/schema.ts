import { compileRegex } from '@agentci/lib/regex';
import { type Infer, v } from '@agentci/lib/values';
import { areWeights } from '@agentci/metrics';

export const MAX_TRIALS = 100_000;

const text = v.string().regex(/\S/);
const words = v.array(text);
const share = v.number().min(0).max(1);
const trials = v.number().int().min(1).max(MAX_TRIALS);
const seed = v.number().int().min(0).max(4_294_967_295);

const regexProblem = (pattern: string): string | undefined => {
  const compiled = compileRegex(pattern);
  return compiled.ok ? undefined : compiled.message;
};

const versionPattern = text.refine((pattern) => regexProblem(pattern) === undefined, {
  message: (pattern) => regexProblem(pattern) ?? '',
  code: 'SPEC_BAD_PATTERN',
});

const profile = v.union([
  v.enum(['spec', 'upstream']),
  v.strictObject({
    base: v.enum(['spec', 'upstream']).optional(),
    version_pattern: versionPattern.optional(),
    services: words.optional(),
    commands: words.optional(),
    generic_nouns: words.optional(),
    contradictions: v.array(v.tuple([text, text])).optional(),
  }),
]);

const weights = v
  .strictObject({ validity: share, specificity: share, correctness: share })
  .refine(areWeights, { message: 'the three weights must add up to 1' });

const step = v
  .number()
  .refine(
    (value) =>
      value > 0 &&
      value <= 1 &&
      Math.round(1 / value) <= 200 &&
      Math.abs(Math.round(1 / value) * value - 1) < 1e-9,
    { message: 'it must divide 1 evenly, into at most 200 parts, such as 0.05' },
  );

const actions = v
  .string()
  .regex(
    /^(?:list|\/.*)$/,
    'write "list" for the items of lists in the answer, or a JSON pointer such as "/actions"',
  );

/** Root keys of an experiment file. `conditions` is read separately. */
export const EXPERIMENT_KEYS = {
  $schema: v.string(),
  version: v.literal(1),
  experiment: text,
  query: text,
  ground_truth: v.union([text, v.array(text).min(1)]),
  profile,
  weights,
  actions,
  seed,
  trials,
  sensitivity_step: step,
} as const;

export const SOURCE_KEYS = ['runner', 'traces', 'data', 'simulate'] as const;

/** One condition. `runner` is read like a spec's. */
export const conditionSchema = v.strictObject({
  description: text.optional(),
  trials: trials.optional(),
  seed: seed.optional(),
  query: text.optional(),
  exclude: v.array(v.union([v.string(), v.number()])).optional(),
  runner: v.unknown().optional(),
  traces: text.optional(),
  format: text.optional(),
  data: v.union([text, v.strictObject({ file: text, condition: text.optional() })]).optional(),
  simulate: v
    .strictObject({
      t2u_s: v.strictObject({ mean: v.number().min(0), sd: v.number().min(0) }).optional(),
      actions: words.optional(),
    })
    .optional(),
});

export type WrittenCondition = Infer<typeof conditionSchema>;
export type WrittenExperiment = {
  [K in keyof typeof EXPERIMENT_KEYS]?: Infer<(typeof EXPERIMENT_KEYS)[K]>;
};
