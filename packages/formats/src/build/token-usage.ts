import { hasValues } from '@agentci/lib/data';
import type { Cost, Fields, Usage } from '@agentci/trace';
import { amount, fields, objects, pick } from './values.ts';

const INPUT_DETAILS = [
  'prompt_tokens_details',
  'input_tokens_details',
  'input_token_details',
  'inputTokenDetails',
] as const;
const OUTPUT_DETAILS = [
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
  'outputTokenDetails',
] as const;

/**
 * Tokens in OpenAI-like counts: cached tokens are part of the input, reasoning part of the output.
 * Knows every common spelling. Undefined if there is none.
 */
export function usageOf(value: unknown): Usage | undefined {
  const source = fields(value);
  const inputDetails = fields(pick(source, ...INPUT_DETAILS));
  const outputDetails = fields(pick(source, ...OUTPUT_DETAILS));
  const usage: Usage = {
    input: amount(
      pick(source, 'input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokens', 'input'),
    ),
    output: amount(
      pick(
        source,
        'output_tokens',
        'completion_tokens',
        'outputTokens',
        'completionTokens',
        'output',
      ),
    ),
    cacheRead: amount(
      pick(inputDetails, 'cached_tokens', 'cache_read', 'cacheReadTokens') ??
        pick(
          source,
          'cache_read_input_tokens',
          'cacheReadInputTokens',
          'cache_read_tokens',
          'cachedInputTokens',
          'cached_tokens',
        ),
    ),
    cacheWrite: amount(
      pick(inputDetails, 'cache_creation', 'cacheWriteTokens') ??
        pick(
          source,
          'cache_creation_input_tokens',
          'cacheCreationInputTokens',
          'cache_write_tokens',
          'cache_write_input_tokens',
        ),
    ),
    reasoning: amount(
      pick(outputDetails, 'reasoning_tokens', 'reasoning', 'reasoningTokens') ??
        pick(source, 'reasoning_tokens', 'reasoningTokens'),
    ),
    total: amount(pick(source, 'total_tokens', 'totalTokens', 'total')),
  };
  return hasCounts(usage) ? usage : undefined;
}

/**
 * Dollars billed by a router (OpenRouter's `cost`; with the user's own key the provider bills a
 * part).
 */
export function billedCost(value: unknown): Cost | undefined {
  const usage = fields(value);
  const own = amount(usage.cost);
  const upstream = amount(fields(usage.cost_details).upstream_inference_cost) ?? 0;
  const usd = usage.is_byok === true ? (own ?? 0) + upstream : Math.max(own ?? 0, upstream);
  return usd === 0 ? undefined : { usd, source: 'reported' };
}

/** Tokens as Anthropic counts them: the cache is apart from the input, so it is added. */
export function anthropicUsage(value: unknown): Usage | undefined {
  const source = fields(value);
  const own = roundUsage(source);
  // A reply of several rounds counts the last one at the top level and all of them in the list.
  const rounds = objects(source.iterations).map(roundUsage);
  if (rounds.length === 0) return own;
  const all: Usage = {};
  for (const round of rounds)
    for (const key of ['input', 'output', 'cacheRead', 'cacheWrite'] as const)
      if (round?.[key] !== undefined) all[key] = (all[key] ?? 0) + round[key];
  const sum = ({ input = 0, output = 0 }: Usage): number => input + output;
  return sum(all) > sum(own ?? {}) ? { ...own, ...all } : own;
}

function roundUsage(source: Fields): Usage | undefined {
  const usage = usageOf({ ...source, total_tokens: undefined });
  if (usage?.input === undefined) return usage;
  return { ...usage, input: usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) };
}

/** Tokens as Gemini counts them: thoughts are apart from the candidates, so they are added. */
export function geminiUsage(value: unknown): Usage | undefined {
  const source = fields(value);
  const thoughts = amount(pick(source, 'thoughtsTokenCount', 'thoughts_token_count'));
  const candidates = amount(pick(source, 'candidatesTokenCount', 'candidates_token_count'));
  const tools = amount(pick(source, 'toolUsePromptTokenCount', 'tool_use_prompt_token_count')) ?? 0;
  const prompt = amount(pick(source, 'promptTokenCount', 'prompt_token_count'));
  const usage: Usage = {
    input: prompt === undefined ? undefined : prompt + tools,
    output:
      candidates === undefined && thoughts === undefined
        ? undefined
        : (candidates ?? 0) + (thoughts ?? 0),
    cacheRead: amount(pick(source, 'cachedContentTokenCount', 'cached_content_token_count')),
    reasoning: thoughts,
    total: amount(pick(source, 'totalTokenCount', 'total_token_count')),
  };
  return hasCounts(usage) ? usage : undefined;
}

const hasCounts = (usage: Usage): boolean => hasValues(usage);
