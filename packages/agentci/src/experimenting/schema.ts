import { z } from 'zod';
import { compileRegex } from '../kit/regex.ts';
import { areWeights } from '../metrics/decision-quality/profile.ts';

export const MAX_TRIALS = 100_000;

const text = z.string().regex(/\S/);
const words = z.array(text);
const share = z.number().min(0).max(1);
const trials = z.number().int().min(1).max(MAX_TRIALS);
const seed = z.number().int().min(0).max(4_294_967_295);

const versionPattern = text.superRefine((pattern, context) => {
  const compiled = compileRegex(pattern);
  if (!compiled.ok) context.addIssue({ code: 'custom', message: compiled.message, params: { code: 'SPEC_REGEX' } });
});

const profile = z.union([
  z.enum(['spec', 'upstream']),
  z.strictObject({
    base: z.enum(['spec', 'upstream']).optional(),
    version_pattern: versionPattern.optional(),
    services: words.optional(),
    commands: words.optional(),
    generic_nouns: words.optional(),
    contradictions: z.array(z.tuple([text, text])).optional(),
  }),
]);

const weights = z
  .strictObject({ validity: share, specificity: share, correctness: share })
  .refine(areWeights, 'the three weights must add up to 1');

const step = z
  .number()
  .refine(
    (value) =>
      value > 0 && value <= 1 && Math.round(1 / value) <= 200 && Math.abs(Math.round(1 / value) * value - 1) < 1e-9,
    'it must divide 1 evenly, into at most 200 parts, such as 0.05',
  );

const actions = z
  .string()
  .regex(/^(?:list|\/.*)$/, 'write "list" for the items of lists in the answer, or a JSON pointer such as "/actions"');

/** Root keys of an experiment file; `conditions` is read by hand, one by one. */
export const EXPERIMENT_KEYS = {
  $schema: z.string(),
  version: z.literal(1),
  experiment: text,
  query: text,
  ground_truth: z.union([text, z.array(text).min(1)]),
  profile,
  weights,
  actions,
  seed,
  trials,
  sensitivity_step: step,
} as const;

export const SOURCE_KEYS = ['runner', 'traces', 'data', 'simulate'] as const;

/** One condition; `runner` is read like a spec's. */
export const conditionSchema = z.strictObject({
  description: text.optional(),
  trials: trials.optional(),
  seed: seed.optional(),
  query: text.optional(),
  exclude: z.array(z.union([z.string(), z.number()])).optional(),
  runner: z.unknown().optional(),
  traces: text.optional(),
  format: text.optional(),
  data: z.union([text, z.strictObject({ file: text, condition: text.optional() })]).optional(),
  simulate: z
    .strictObject({
      t2u_s: z.strictObject({ mean: z.number().min(0), sd: z.number().min(0) }).optional(),
      actions: words.optional(),
    })
    .optional(),
});

export type WrittenCondition = z.infer<typeof conditionSchema>;
export type WrittenExperiment = { [K in keyof typeof EXPERIMENT_KEYS]?: z.infer<(typeof EXPERIMENT_KEYS)[K]> };
