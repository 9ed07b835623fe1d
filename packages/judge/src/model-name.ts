/** The ways to reach a model. `openai` speaks Responses, `openai-chat` Chat Completions; both to OpenAI itself. */
const PROVIDERS = ['anthropic', 'openai', 'openai-chat', 'google', 'openai-compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface ModelName {
  readonly provider: ProviderName;
  readonly model: string;
}

/** Dated, so that verdicts of next year compare with those of today. */
export const DEFAULT_MODEL = 'claude-sonnet-4-5-20250929';

/** What texts are compared with where no embedding model is named; a server of one's own has to name it. */
export const EMBEDDING_MODELS: Partial<Readonly<Record<ProviderName, string>>> = {
  openai: 'text-embedding-3-small',
  'openai-chat': 'text-embedding-3-small',
  google: 'gemini-embedding-001',
};

/** Where the key of a provider is looked for; the first that is set counts. A server named by `base_url` gets none unasked. */
export const KEY_VARIABLES: Readonly<Record<ProviderName, readonly string[]>> = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  'openai-chat': ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  'openai-compatible': [],
};

/**
 * Reads `provider:model`, or recognises the provider by the model's name. With `base_url` a name without provider belongs to
 * that server, colons and all (`llama3.1:8b`). Undefined when no known provider serves it.
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
