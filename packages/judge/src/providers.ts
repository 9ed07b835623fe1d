import { describeRedirect, withDeadline } from '@agentci/lib/net';
import type { EmbeddingModel, LanguageModel } from 'ai';
import { ModelError } from './model-error.ts';
import type { ModelName } from './model-name.ts';

/** Maximum output tokens, and the assumed cost of a call. Includes reasoning tokens. */
export const MAX_OUTPUT_TOKENS = 2048;

export interface ModelRequest {
  readonly name: ModelName;
  readonly system?: string | undefined;
  readonly user: string;
  /** Earlier messages, if the call is part of a conversation. */
  readonly history?:
    | readonly { readonly role: 'user' | 'assistant'; readonly content: string }[]
    | undefined;
  /** Default: the provider's. */
  readonly temperature?: number | undefined;
  /** Sent to providers that accept one. */
  readonly seed?: number | undefined;
  readonly structured: boolean;
  /** `MAX_OUTPUT_TOKENS` if the key is absent. Undefined uses the provider's limit. */
  readonly maxOutputTokens?: number | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ModelReply {
  readonly text: string;
  readonly refused: boolean;
  /** Why the reply ended, in trace vocabulary. */
  readonly finish?: 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'error' | 'other';
  readonly usage: {
    readonly input?: number;
    readonly output?: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  readonly warnings: readonly string[];
  /** Tool calls that the model requested. They are not executed. */
  readonly toolCalls?: readonly { readonly name: string; readonly args: unknown }[];
}

/**
 * The order matters, because a score after its reason is a better score. No bounds, because not all
 * providers accept them.
 */
const VERDICT_SCHEMA = {
  type: 'object',
  properties: {
    rationale: { type: 'string', description: 'at most three sentences' },
    score: { type: 'integer', description: '1 to 5' },
    label: { type: 'string', enum: ['pass', 'borderline', 'fail'] },
  },
  required: ['rationale', 'score', 'label'],
  additionalProperties: false,
} as const;

const FINISHES: Readonly<Record<string, ModelReply['finish']>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'error',
};

/** The other providers would warn on every call. */
const TAKES_SEED: ReadonlySet<ModelName['provider']> = new Set([
  'openai-chat',
  'openai-compatible',
  'google',
]);

/** Calls a model. Loads the SDK on the first call. */
export async function callModel(request: ModelRequest): Promise<ModelReply> {
  // Must come before the SDK is loaded, which prints its first warning to stdout.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const { generateText, jsonSchema, Output, NoObjectGeneratedError, APICallError } = await import(
    './sdk/ai.ts'
  );
  const heard: Heard = {};
  const model = await connect(request, heard);
  return withDeadline({ ms: request.timeoutMs, signal: request.signal }, async (deadline) => {
    try {
      const result = await generateText({
        model,
        system: request.system,
        temperature: request.temperature,
        seed: TAKES_SEED.has(request.name.provider) ? request.seed : undefined,
        ...(request.history === undefined
          ? { prompt: request.user }
          : { messages: [...request.history, { role: 'user' as const, content: request.user }] }),
        maxOutputTokens: 'maxOutputTokens' in request ? request.maxOutputTokens : MAX_OUTPUT_TOKENS,
        maxRetries: 0,
        abortSignal: deadline.signal,
        output: request.structured
          ? Output.object({
              schema: jsonSchema(VERDICT_SCHEMA as never),
              name: 'verdict',
            })
          : undefined,
      });
      return {
        text: result.text,
        refused: result.finishReason === 'content-filter',
        finish: FINISHES[result.finishReason] ?? 'other',
        usage: usageOf(result.usage),
        warnings: (result.warnings ?? []).map(warningText),
        toolCalls:
          result.toolCalls.length !== 0
            ? result.toolCalls.map(({ toolName, input }) => ({
                name: toolName,
                args: input as unknown,
              }))
            : undefined,
      };
    } catch (error) {
      if (NoObjectGeneratedError.isInstance(error)) {
        // The reply has another shape than requested. Our own reader decides whether it is a
        // verdict.
        return {
          text: error.text ?? '',
          refused: error.finishReason === 'content-filter',
          usage: usageOf(error.usage),
          warnings: [],
        };
      }
      const isApiError = APICallError.isInstance(error);
      throw await modelError(error, { request, heard, isOver: deadline.isOver(), isApiError });
    }
  });
}

/** What a failed call is for those who made it. */
async function modelError(
  error: unknown,
  {
    request,
    heard,
    isOver,
    isApiError,
  }: {
    readonly request: ModelRequest;
    readonly heard: Heard;
    readonly isOver: boolean;
    readonly isApiError: boolean;
  },
): Promise<ModelError> {
  if (error instanceof ModelError) return error;
  if (request.signal?.aborted) return new ModelError('interrupted', 'the run was interrupted');
  if (isOver) return new ModelError('infra', `no reply within ${request.timeoutMs} ms`);
  if (isApiError) return fromApiError(error as Parameters<typeof fromApiError>[0], request);
  // The SDKs trip over answers of another protocol that are JSON all the same.
  const { response } = heard;
  if (error instanceof TypeError && response?.ok === true)
    return fromApiError(
      {
        statusCode: response.status,
        isRetryable: false,
        message: error.message,
        responseBody: await bodyOf(response),
      },
      request,
    );
  return new ModelError(
    'provider',
    clean(error instanceof Error ? error.message : String(error), request.apiKey),
  );
}

/** A copy of what the server answered last, for messages. */
interface Heard {
  response?: Response;
}

const bodyOf = (response: Response): Promise<string> => response.text().catch(() => '');

/** Embeds texts with a provider that has such models. */
export async function embedTexts(
  texts: readonly string[],
  request: Omit<ModelRequest, 'system' | 'user' | 'temperature' | 'structured'>,
): Promise<readonly (readonly number[])[]> {
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const { embedMany, APICallError } = await import('./sdk/ai.ts');
  const model = await connectEmbedding(request);
  return withDeadline({ ms: request.timeoutMs, signal: request.signal }, async (deadline) => {
    try {
      const abortSignal = deadline.signal;
      return (await embedMany({ model, values: [...texts], maxRetries: 0, abortSignal }))
        .embeddings;
    } catch (error) {
      if (error instanceof ModelError) throw error;
      if (request.signal?.aborted) throw new ModelError('interrupted', 'the run was interrupted');
      if (deadline.isOver())
        throw new ModelError('infra', `no reply within ${request.timeoutMs} ms`);
      if (APICallError.isInstance(error)) throw fromApiError(error, request);
      throw new ModelError(
        'provider',
        clean(error instanceof Error ? error.message : String(error), request.apiKey),
      );
    }
  });
}

async function connectEmbedding({
  name,
  baseUrl,
  apiKey,
}: Pick<ModelRequest, 'name' | 'baseUrl' | 'apiKey'>): Promise<EmbeddingModel> {
  const { provider, model } = name;
  const settings = { apiKey: apiKey ?? '', fetch: fetchHere, baseURL: baseUrl };
  switch (provider) {
    case 'openai':
    case 'openai-chat':
      return (await import('./sdk/openai.ts')).createOpenAI(settings).textEmbeddingModel(model);
    case 'google':
      return (await import('./sdk/google.ts'))
        .createGoogleGenerativeAI(settings)
        .textEmbeddingModel(model);
    case 'openai-compatible':
      return (await import('./sdk/openai-compatible.ts'))
        .createOpenAICompatible({
          name: 'openai-compatible',
          baseURL: baseUrl ?? '',
          fetch: fetchHere,
          apiKey,
        })
        .textEmbeddingModel(model);
    case 'anthropic':
      throw new ModelError('provider', 'Anthropic has no embedding models');
  }
}

/** Sends the judge's key only to its configured server. */
const fetchHere: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  const redirect = describeRedirect(response.status, response.headers.get('location'));
  if (redirect !== undefined)
    throw new ModelError('provider', `the model's server answered ${redirect}`);
  return response;
};

async function connect(
  { name, baseUrl, apiKey, structured }: ModelRequest,
  heard: Heard,
): Promise<LanguageModel> {
  const { provider, model } = name;
  const fetchAndKeep: typeof fetch = async (input, init) => {
    const response = await fetchHere(input, init);
    heard.response = response.clone();
    return response;
  };
  // Empty instead of undefined, because the SDKs would otherwise read the environment.
  const settings = { apiKey: apiKey ?? '', fetch: fetchAndKeep, baseURL: baseUrl };
  switch (provider) {
    case 'anthropic':
      return (await import('./sdk/anthropic.ts')).createAnthropic(settings)(model);
    case 'openai':
      return (await import('./sdk/openai.ts')).createOpenAI(settings).responses(model);
    case 'openai-chat':
      return (await import('./sdk/openai.ts')).createOpenAI(settings).chat(model);
    case 'google':
      return (await import('./sdk/google.ts')).createGoogleGenerativeAI(settings)(model);
    case 'openai-compatible':
      return (await import('./sdk/openai-compatible.ts')).createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: baseUrl ?? '',
        supportsStructuredOutputs: structured,
        fetch: fetchAndKeep,
        apiKey,
      })(model);
  }
}

interface ApiError {
  readonly statusCode?: number | undefined;
  readonly isRetryable: boolean;
  readonly message: string;
  readonly responseHeaders?: Record<string, string> | undefined;
  readonly responseBody?: string | undefined;
}

type Asked = Pick<ModelRequest, 'name' | 'baseUrl' | 'apiKey'>;

function fromApiError(error: ApiError, asked: Asked): ModelError {
  const { statusCode, isRetryable, responseHeaders } = error;
  const status = statusCode === undefined ? '' : `HTTP ${statusCode}: `;
  const isInfra =
    isRetryable || statusCode === undefined || statusCode === 429 || statusCode >= 500;
  const isUnreadable = statusCode !== undefined && statusCode < 300;
  const message = isUnreadable ? unreadableReply(error, asked) : clean(error.message, asked.apiKey);
  // A server with an unknown path or response format may use the other protocol.
  const way = isUnreadable || statusCode === 404 || statusCode === 405 ? otherProtocol(asked) : '';
  return new ModelError(isInfra ? 'infra' : 'provider', `${status}${message}${way}`, {
    retryAfterMs: retryAfter(responseHeaders ?? {}),
  });
}

const MAX_REPLY_SHOWN = 160;

function unreadableReply({ responseBody = '' }: ApiError, { apiKey }: Asked): string {
  const body = clean(responseBody, apiKey).trim();
  const shown = body.length > MAX_REPLY_SHOWN ? `${body.slice(0, MAX_REPLY_SHOWN)}…` : body;
  return body === ''
    ? 'the server answered with an empty body'
    : `the server's answer is not a reply of this protocol: ${shown}`;
}

function otherProtocol({ name: { provider, model }, baseUrl }: Asked): string {
  if (baseUrl === undefined) return '';
  if (provider === 'openai')
    return `; "openai:" uses the Responses API: for a server that has only Chat Completions write the model as "openai-chat:${model}"`;
  return `; is base_url the address of a server that speaks the protocol of "${provider}:"?`;
}

function retryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const value = headers['retry-after'];
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Some servers repeat the rejected key. */
function clean(message: string, apiKey: string | undefined): string {
  const text = apiKey ? message.replaceAll(apiKey, '***') : message;
  return text.replace(/\s+/g, ' ').slice(0, 300);
}

interface SdkUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly inputTokenDetails?: {
    readonly cacheReadTokens: number | undefined;
    readonly cacheWriteTokens: number | undefined;
  };
}

function usageOf(usage: SdkUsage | undefined): ModelReply['usage'] {
  const given = {
    input: usage?.inputTokens,
    output: usage?.outputTokens,
    cacheRead: usage?.inputTokenDetails?.cacheReadTokens,
    cacheWrite: usage?.inputTokenDetails?.cacheWriteTokens,
  };
  return Object.fromEntries(Object.entries(given).filter(([, count]) => count !== undefined));
}

function warningText(warning: unknown): string {
  const { type, feature, details, message } = warning as Record<
    'type' | 'feature' | 'details' | 'message',
    unknown
  >;
  return [type, feature, details ?? message]
    .filter((part) => typeof part === 'string')
    .join(': ')
    .slice(0, 200);
}
