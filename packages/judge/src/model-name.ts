/**
 * Supported protocols. `openai` is the Responses API and `openai-chat` Chat Completions, both of
 * OpenAI itself.
 */
const PROVIDERS = ['anthropic', 'openai', 'openai-chat', 'google', 'openai-compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface ModelName {
  readonly provider: ProviderName;
  readonly model: string;
}

/** A dated model, so that next year's verdicts stay comparable. */
export const DEFAULT_MODEL = 'claude-sonnet-4-5-20250929';

/** Default embedding models. A custom server must name one. */
export const EMBEDDING_MODELS: Partial<Readonly<Record<ProviderName, string>>> = {
  openai: 'text-embedding-3-small',
  'openai-chat': 'text-embedding-3-small',
  google: 'gemini-embedding-001',
};

/**
 * Environment variables of a provider's key, in order. A `base_url` server gets a key only if
 * asked.
 */
export const KEY_VARIABLES: Readonly<Record<ProviderName, readonly string[]>> = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  'openai-chat': ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  'openai-compatible': [],
};

/**
 * Parses `provider:model`, or finds the provider by the model's name. With `base_url`, a name
 * without a provider belongs to that server, colons included (`llama3.1:8b`). Undefined if no known
 * provider serves it.
 */
export function parseModelName(
  name: string,
  options: { hasBaseUrl: boolean },
): ModelName | undefined {
  const text = name.trim();
  const colon = text.indexOf(':');
  const prefix = text.slice(0, Math.max(0, colon)).toLowerCase();
  const model = text.slice(colon + 1).trim();
  if ((PROVIDERS as readonly string[]).includes(prefix)) {
    const provider = prefix as ProviderName;
    if (model === '' || (provider === 'openai-compatible' && !options.hasBaseUrl)) return undefined;
    return { provider, model };
  }
  if (text === '') return undefined;
  if (options.hasBaseUrl) return { provider: 'openai-compatible', model: text };
  if (/^claude/i.test(text)) return { provider: 'anthropic', model: text };
  if (/^(gpt-|chatgpt-|o[1-9](-|$))/i.test(text)) return { provider: 'openai', model: text };
  if (/^gemini/i.test(text)) return { provider: 'google', model: text };
  return undefined;
}

export const showModel = ({ provider, model }: ModelName): string => `${provider}:${model}`;
