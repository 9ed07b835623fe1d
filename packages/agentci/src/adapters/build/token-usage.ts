import type { Usage } from '../../trace/model.ts';
import { defined } from './defined.ts';
import { amount, fields, pick } from './values.ts';

/**
 * Tokens as OpenAI-like sources count them: what was read from a cache is part of the input, reasoning is part of the
 * output. Every common spelling is known; undefined when none is there.
 */
export function usageOf(value: unknown): Usage | undefined {
  const source = fields(value);
  const inputDetails = fields(
    pick(source, 'prompt_tokens_details', 'input_tokens_details', 'input_token_details', 'inputTokenDetails'),
  );
  const outputDetails = fields(
    pick(source, 'completion_tokens_details', 'output_tokens_details', 'output_token_details', 'outputTokenDetails'),
  );
  const usage: Usage = defined({
    input: amount(pick(source, 'input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokens', 'input')),
    output: amount(pick(source, 'output_tokens', 'completion_tokens', 'outputTokens', 'completionTokens', 'output')),
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
  });
  return hasCounts(usage) ? usage : undefined;
}

/** Tokens as Anthropic counts them: the cache is apart from the input, so it is added. */
export function anthropicUsage(value: unknown): Usage | undefined {
  const source = fields(value);
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
  const usage: Usage = defined({
    input: prompt === undefined ? undefined : prompt + tools,
    output: candidates === undefined && thoughts === undefined ? undefined : (candidates ?? 0) + (thoughts ?? 0),
    cacheRead: amount(pick(source, 'cachedContentTokenCount', 'cached_content_token_count')),
    reasoning: thoughts,
    total: amount(pick(source, 'totalTokenCount', 'total_token_count')),
  });
  return hasCounts(usage) ? usage : undefined;
}

const hasCounts = (usage: Usage): boolean => Object.keys(usage).length > 0;
