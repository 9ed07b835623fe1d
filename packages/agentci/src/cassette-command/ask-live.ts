import type { Cassette, CassetteEntry } from '@agentci/capture';
import {
  isUnnamed,
  PROVIDERS,
  type Provider,
  providersInUse,
  routeOf,
  targetOf,
  unnamedUpstream,
} from '@agentci/capture';
import { capturedTrace, EXCHANGE_SCHEMA, type ExchangeRecord } from '@agentci/formats';
import { stringifyExact } from '@agentci/lib/json';
import { withDeadline } from '@agentci/lib/net';
import { PLACEHOLDER } from '@agentci/lib/secrets';
import type { LlmStep } from '@agentci/trace';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * How the new answer compares with the recorded one. Texts are not compared, because they differ
 * every time.
 */
export interface LiveComparison {
  readonly same: boolean;
  /** `finish: stop → tool_calls`, or the reason why no comparison was possible. */
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

/** Address and key for a request, or the reason why it cannot be sent. */
type Asking =
  | { readonly target: URL; readonly auth: Readonly<Record<string, string>> }
  | { readonly why: string };

/** Sends a stored request to the provider again. `providers` comes from its cassette. */
export async function askLive(
  entry: CassetteEntry,
  providers: Cassette['providers'],
  { env, signal }: { readonly env: Env; readonly signal: AbortSignal },
): Promise<LiveComparison> {
  const skip = (why: string): LiveComparison => ({ same: false, differences: [], skipped: why });
  if (entry.route === 'other') return skip('it is not a call of a model');
  if (entry.body.kind !== 'json') return skip('its request was not JSON');
  if (stringifyExact(entry.body.value).includes(PLACEHOLDER))
    return skip('its request held a credential');
  const asking = isUnnamed(entry.provider)
    ? serverOf(entry, providers, env)
    : providerOf(entry, env);
  if ('why' in asking) return skip(asking.why);
  const { target, auth } = asking;
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
      if (isUnnamed(entry.provider) && isRefused(reply.status) && !isRefused(entry.status))
        return skip(
          `${target.host} wants ${Object.keys(auth).length === 0 ? 'a key' : 'another key'} (status ${reply.status}): ${KEYS_GO}`,
        );
      const headers = { 'content-type': reply.headers.get('content-type') ?? '' };
      return compare(
        shapeOf(entry, entry.status, entry.headers, entry.chunks),
        shapeOf(entry, reply.status, headers, [bytes]),
      );
    });
  } catch (error) {
    const { name, cause } = error as Error & { readonly cause?: { readonly code?: string } };
    return skip(`${target.host} could not be asked (${cause?.code ?? name})`);
  }
}

const KEYS_GO =
  'keys are sent only to addresses that your own variables name, such as OPENAI_BASE_URL, since a recording may have been changed by anybody';

const isRefused = (status: number): boolean => status === 401 || status === 403;

function providerOf(entry: CassetteEntry, env: Env): Asking {
  const provider = PROVIDERS.find(({ name }) => name === entry.provider);
  const key = provider?.keys.map((name) => env[name]).find(Boolean);
  const { inUse } = providersInUse(
    env,
    provider === undefined ? {} : { providers: [provider.name] },
  );
  const upstream = inUse.find((one) => one.provider === provider)?.upstream;
  if (provider === undefined || upstream === undefined)
    return { why: `no address of ${entry.provider}` };
  if (key === undefined && provider.keys.length > 0)
    return { why: `no key of ${entry.provider} is set` };
  if (provider.name === 'bedrock' && !env.AWS_BEARER_TOKEN_BEDROCK)
    return { why: 'AWS_BEARER_TOKEN_BEDROCK is not set' };
  const auth = keyHeaders(provider, env);
  return askingOf(entry, {
    origin: new URL(upstream.root).origin,
    find: () => targetOf(upstream, entry.path).target,
    auth,
  });
}

const keyHeaders = ({ name, keys }: Provider, env: Env): Record<string, string> => {
  const key = keys.map((variable) => env[variable]).find(Boolean);
  return key === undefined ? {} : (HEADERS[name] ?? bearer)(key);
};

/**
 * A server that the agent addresses by URL. Cassettes do not store the agent's credentials, and the
 * URL comes from a file in the repository. So it gets a key only if one of the user's variables
 * names the same address.
 */
function serverOf(entry: CassetteEntry, providers: Cassette['providers'], env: Env): Asking {
  const named = providersInUse(env).inUse.find(
    ({ upstream }) =>
      upstream.isOwn && unnamedUpstream(new URL(upstream.root)).provider === entry.provider,
  );
  const { scheme } = providers[entry.provider] ?? {};
  const place = entry.provider.slice(1);
  if (named === undefined && scheme !== 'http' && scheme !== 'https')
    return {
      why: `the recording does not say whether ${place} is asked over HTTP or HTTPS; record it again`,
    };
  const origin = named === undefined ? `${scheme}://${place}` : new URL(named.upstream.root).origin;
  const auth = named === undefined ? {} : keyHeaders(named.provider, env);
  return askingOf(entry, { origin, find: () => new URL(`${origin}${entry.path}`), auth });
}

/**
 * The path comes from a file. Joined to an address, it must not lead to another host or to anything
 * but a model call.
 */
function askingOf(
  { method, path }: CassetteEntry,
  {
    origin,
    find,
    auth,
  }: { readonly origin: string; readonly find: () => URL; readonly auth: Record<string, string> },
): Asking {
  const why = `the recorded path ${JSON.stringify(path)} is not that of a model at ${origin}`;
  try {
    const target = find();
    return target.origin === origin && routeOf(method, target.pathname) !== 'other'
      ? { target, auth }
      : { why };
  } catch {
    return { why };
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
  const step = item?.ok
    ? item.trace.steps.find((one): one is LlmStep => one.kind === 'llm')
    : undefined;
  const calls = step?.output?.calls ?? [];
  const hasText =
    step?.output?.parts.some((part) => part.type === 'text' && part.text.trim() !== '') === true;
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
