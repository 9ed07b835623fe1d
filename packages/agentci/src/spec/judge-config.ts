import { z } from 'zod';
import { MAX_TIMEOUT_MS } from '../runners/config.ts';

const text = z.string().regex(/\S/);

const ensembleSchema = z.strictObject({
  enabled: z.boolean().optional().describe('false still allows --sample-ensemble'),
  models: z.array(text).min(1).describe('The judges; each has one vote'),
  strategy: z.literal('majority_vote').optional(),
});

/** The LLM that scores answers; the settings every rubric shares. */
export const judgeConfigSchema = z.strictObject({
  model: text.optional().describe('Model that judges'),
  temperature: z.number().min(0).max(2).optional().describe('0 when not written, so that verdicts repeat'),
  structured_output: z.boolean().optional(),
  base_url: z
    .string()
    .regex(/^https?:\/\/\S+$/, 'a URL starts with http:// or https://')
    .optional(),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'this is the name of an environment variable, never the key itself')
    .optional()
    .describe('Name of the environment variable that holds the key'),
  timeout_ms: z.number().int().min(1).max(MAX_TIMEOUT_MS).optional(),
  retries: z.number().int().min(0).max(100).optional(),
  cache: z.boolean().optional().describe('Keep verdicts and reuse them'),
  ensemble: ensembleSchema.optional(),
});
