import { v } from '../kit/value-schema.ts';
import { MAX_TIMEOUT_MS } from '../runners/config.ts';

const text = v.string().regex(/\S/);

const ensembleSchema = v.strictObject({
  enabled: v.boolean().optional().describe('false still allows --sample-ensemble'),
  models: v.array(text).min(1).optional().describe('The judges; each has one vote'),
  strategy: v.literal('majority_vote').optional(),
});

/** The LLM that scores answers; the settings every rubric shares. */
export const judgeConfigSchema = v.strictObject({
  model: text.optional().describe('Model that judges'),
  temperature: v
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('0 when not written, so that verdicts repeat'),
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
