import type { Fields } from '../../trace/fields.ts';
import type { Cost, LlmStep, Usage } from '../../trace/model.ts';
import { defined } from '../build/defined.ts';
import { finishOf } from '../build/finish.ts';
import { amount, label, pick } from '../build/values.ts';

/** Every spelling of a token count that GenAI instrumentations have used, newest first. */
const USAGE: Readonly<Record<keyof Usage, readonly string[]>> = {
  input: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.usage.prompt_tokens'],
  output: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.usage.completion_tokens'],
  total: ['gen_ai.usage.total_tokens', 'llm.usage.total_tokens'],
  cacheRead: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
  ],
  cacheWrite: [
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.cache_write_input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.details.reasoning_tokens',
  ],
  audioIn: ['gen_ai.usage.audio.input_tokens'],
  audioOut: ['gen_ai.usage.audio.output_tokens'],
};

/** Tokens of a GenAI span; what came from a cache is part of the input. */
export function genAiUsage(attributes: Fields): Usage | undefined {
  const usage: Usage = {};
  for (const [key, names] of Object.entries(USAGE) as [keyof Usage, readonly string[]][]) {
    const value = amount(pick(attributes, ...names));
    if (value !== undefined) usage[key] = value;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

const COST = ['gen_ai.usage.cost', 'operation.cost', 'llm.cost.total', 'cost_usd', 'gen_ai.usage.total_cost'];

/** No convention names the cost; these are the spellings in use. */
export function costOf(attributes: Fields): Cost | undefined {
  const usd = amount(pick(attributes, ...COST));
  return usd === undefined ? undefined : { usd, source: 'reported' };
}

/** Model, provider, tokens, cost and finish of an LLM span. */
export function llmFacts(attributes: Fields): Partial<LlmStep> {
  const reasons = pick(
    attributes,
    'gen_ai.response.finish_reasons',
    'gen_ai.response.finish_reason',
    'gen_ai.completion.0.finish_reason',
    'llm.response.finish_reason',
    'llm.finish_reason',
  );
  return defined({
    provider: label(pick(attributes, 'gen_ai.provider.name', 'gen_ai.system')),
    model: label(pick(attributes, 'gen_ai.response.model', 'gen_ai.request.model')),
    requestModel: label(attributes['gen_ai.request.model']),
    responseId: label(attributes['gen_ai.response.id']),
    usage: genAiUsage(attributes),
    cost: costOf(attributes),
    finish: finishOf(Array.isArray(reasons) ? reasons[0] : reasons),
  });
}
