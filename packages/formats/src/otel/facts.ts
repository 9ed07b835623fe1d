import { hasValues } from '@agentci/lib/data';
import type { Cost, Fields, LlmStep, Usage } from '@agentci/trace';
import { finishOf } from '../build/finish.ts';
import { amount, label, pick, unpacked } from '../build/values.ts';

/** Every spelling of a token count that GenAI instrumentations have used, newest first. */
const USAGE: Readonly<Record<keyof Usage, readonly string[]>> = {
  input: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.usage.prompt_tokens'],
  output: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.usage.completion_tokens',
  ],
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

/** Tokens of a GenAI span, with cached tokens as part of the input. */
export function genAiUsage(attributes: Fields): Usage | undefined {
  const usage: Usage = {};
  for (const [key, names] of Object.entries(USAGE) as [keyof Usage, readonly string[]][]) {
    const value = amount(pick(attributes, ...names));
    if (value !== undefined) usage[key] = value;
  }
  return hasValues(usage) ? usage : undefined;
}

const COST = [
  'gen_ai.usage.cost',
  'operation.cost',
  'llm.cost.total',
  'cost_usd',
  'gen_ai.usage.total_cost',
];

/** The conventions have no cost, so these are the spellings in use. */
export function costOf(attributes: Fields): Cost | undefined {
  const usd = amount(pick(attributes, ...COST));
  return usd === undefined ? undefined : { usd, source: 'reported' };
}

/** The spellings the conventions and instrumentations use, the most telling first. */
const FINISH = [
  'gen_ai.response.finish_reasons',
  'gen_ai.response.finish_reason',
  'gen_ai.completion.0.finish_reason',
  'llm.response.finish_reason',
  'llm.finish_reason',
];
const FINISH_KEY = /(?:^|[._])(?:finish|stop)_?reasons?$/i;

/** Why a reply ended. If one of several spellings reports a tool call, there was one. */
export function finishIn(attributes: Fields): LlmStep['finish'] | undefined {
  const said = [
    ...FINISH,
    ...Object.keys(attributes).filter((key) => FINISH_KEY.test(key)),
  ].flatMap((key) => {
    const value = unpacked(attributes[key]);
    return (Array.isArray(value) ? value : [value]).flatMap(
      (reason) => finishOf(plain(reason)) ?? [],
    );
  });
  return said.includes('tool_calls') ? 'tool_calls' : said[0];
}

/** A reason that was written as JSON text: `"stop"`. */
const plain = (reason: unknown): unknown =>
  typeof reason === 'string' ? reason.replace(/^"|"$/g, '') : reason;

/** Model, provider, tokens, cost and finish of an LLM span. */
export function llmFacts(attributes: Fields): Partial<LlmStep> {
  return {
    provider: label(pick(attributes, 'gen_ai.provider.name', 'gen_ai.system')),
    model: label(pick(attributes, 'gen_ai.response.model', 'gen_ai.request.model')),
    requestModel: label(attributes['gen_ai.request.model']),
    responseId: label(attributes['gen_ai.response.id']),
    usage: genAiUsage(attributes),
    cost: costOf(attributes),
    finish: finishIn(attributes),
  };
}
