import { capturedTrace } from '../../adapters/formats/agentci-exchange/captured-trace.ts';
import { EXCHANGE_SCHEMA, type ExchangeRecord } from '../../adapters/formats/agentci-exchange/exchange-record.ts';
import type { CassetteEntry } from '../../capture/cassette/cassette.ts';
import { providersInUse } from '../../capture/environment.ts';
import { PROVIDERS } from '../../capture/providers.ts';
import { isUnnamed, targetOf } from '../../capture/upstreams.ts';
import { PLACEHOLDER } from '../../kit/credentials.ts';
import { withDeadline } from '../../kit/deadline.ts';
import { stringifyExact } from '../../kit/exact-json.ts';
import type { LlmStep } from '../../trace/model.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** How the answer of today compares with the recorded one. Words are never compared: they differ every time. */
export interface LiveComparison {
  readonly same: boolean;
  /** `finish: stop → tool_calls`; why it could not be compared, otherwise. */
  readonly differences: readonly string[];
  readonly skipped?: string;
}

const TIMEOUT_MS = 120_000;
const HEADERS: Readonly<Record<string, (key: string) => Record<string, string>>> = {
  anthropic: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  gemini: (key) => ({ 'x-goog-api-key': key }),
  azure: (key) => ({ 'api-key': key }),
};
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Asks the provider a stored request again. */
export async function askLive(entry: CassetteEntry, env: Env, signal: AbortSignal): Promise<LiveComparison> {
  const skip = (why: string): LiveComparison => ({ same: false, differences: [], skipped: why });
  if (entry.route === 'other') return skip('it is not a call of a model');
  if (entry.body.kind !== 'json') return skip('its request was not JSON');
  if (stringifyExact(entry.body.value).includes(PLACEHOLDER)) return skip('its request held a credential');
  if (isUnnamed(entry.provider)) return skip(`no variable names the server ${entry.provider.slice(1)}`);
  const provider = PROVIDERS.find(({ name }) => name === entry.provider);
  const key = provider?.keys.map((name) => env[name]).find(Boolean);
  const { inUse } = providersInUse(env, provider === undefined ? {} : { providers: [provider.name] });
  const upstream = inUse.find((one) => one.provider === provider)?.upstream;
  if (provider === undefined || upstream === undefined) return skip(`there is no address of ${entry.provider}`);
  if (key === undefined && provider.keys.length > 0) return skip(`no key of ${entry.provider} is set`);
  if (provider.name === 'bedrock' && !env.AWS_BEARER_TOKEN_BEDROCK) return skip('AWS_BEARER_TOKEN_BEDROCK is not set');
  const { target } = targetOf(upstream, entry.path);
  const auth = key === undefined ? {} : (HEADERS[provider.name] ?? bearer)(key);
  const body = stringifyExact(entry.body.value);
  try {
    return await withDeadline({ ms: TIMEOUT_MS, signal }, async (deadline) => {
      const reply = await fetch(target, {
        method: entry.method,
        headers: { 'content-type': 'application/json', ...auth },
        body,
        signal: deadline.signal,
        redirect: 'manual',
      });
      const bytes = Buffer.from(await reply.arrayBuffer());
      const headers = { 'content-type': reply.headers.get('content-type') ?? '' };
      return compare(
        shapeOf(entry, entry.status, entry.headers, entry.chunks),
        shapeOf(entry, reply.status, headers, [bytes]),
      );
    });
  } catch (error) {
    return skip(`the provider could not be asked (${(error as Error).name})`);
  }
}

interface Shape {
  readonly status: number;
  readonly finish: string;
  readonly tools: string;
  readonly content: string;
}

function shapeOf(
  entry: CassetteEntry,
  status: number,
  headers: Readonly<Record<string, string>>,
  chunks: readonly Buffer[],
): Shape {
  const record: ExchangeRecord = {
    schema: EXCHANGE_SCHEMA,
    run: 'live',
    i: 1,
    at: 0,
    provider: entry.provider,
    route: entry.route,
    method: entry.method,
    uri: `https://provider.invalid${entry.path}`,
    request: Buffer.from(entry.body.kind === 'json' ? stringifyExact(entry.body.value) : ''),
    response: { status, headers, chunks: chunks.map((chunk) => [0, chunk] as const) },
    end_ms: 0,
    complete: true,
  };
  const [item] = capturedTrace({ exchanges: [{ value: record }] });
  const step = item?.ok ? item.trace.steps.find((one): one is LlmStep => one.kind === 'llm') : undefined;
  const calls = step?.output?.calls ?? [];
  const hasText = step?.output?.parts.some((part) => part.type === 'text' && part.text.trim() !== '') === true;
  return {
    status,
    finish: step?.finish ?? 'unknown',
    tools:
      calls
        .map(({ name }) => name)
        .sort()
        .join(', ') || 'none',
    content: hasText ? 'text' : 'no text',
  };
}

function compare(recorded: Shape, live: Shape): LiveComparison {
  const differences = (Object.keys(recorded) as (keyof Shape)[])
    .filter((field) => recorded[field] !== live[field])
    .map((field) => `${field}: ${recorded[field]} → ${live[field]}`);
  return { same: differences.length === 0, differences };
}
