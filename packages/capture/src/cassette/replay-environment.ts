import { type ProvidersInUse, providersInUse } from '../environment.ts';
import { PROVIDERS } from '../providers.ts';
import { isUnnamedLocal, unnamedUpstream } from '../upstreams.ts';
import type { CassetteProvider } from './cassette.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Providers = Readonly<Record<string, CassetteProvider>>;

/** Has the form of a key, so that it is recognized if an agent repeats it. */
const DUMMY = 'sk-agentci-replay-0000000000000000';
const DUMMIES: Readonly<Record<string, string>> = { AWS_ACCESS_KEY_ID: 'AKIAAGENTCIREPLAY000' };
/** Switches, not keys. */
const SWITCHES = /_USE_(?:VERTEX|VERTEXAI|BEDROCK)$/;
/** Tools may need them for other things. */
const SHARED: ReadonlySet<string> = new Set(['AWS_ACCESS_KEY_ID', 'GOOGLE_API_KEY']);

const NOWHERE = 'https://replay.invalid';
/**
 * Agents select them by their address, and SDKs reject it next to another one. Calls to their hosts
 * are captured anyway.
 */
const CHOSEN_BY_ADDRESS: ReadonlySet<string> = new Set(['azure']);

/** The providers of a cassette that have variables. Servers addressed by URL need none. */
export const namedProviders = (providers: Providers): string[] =>
  PROVIDERS.map(({ name }) => name).filter((name) => Object.hasOwn(providers, name));

/**
 * The providers of a cassette, those of the environment with their recorded settings, and all
 * others, because a call to an unrecorded one must be captured too. Nothing is sent to them.
 */
export function providersOfCassette(env: Env, providers: Providers): ProvidersInUse {
  const known = PROVIDERS.filter(({ name }) => Object.hasOwn(providers, name));
  const { inUse } = providersInUse(env, { providers: known.map(({ name }) => name) });
  const recorded = known.map((provider) => {
    const { tail, set } = providers[provider.name]!;
    const found = inUse.find((one) => one.provider === provider);
    const root = found?.upstream.root ?? NOWHERE;
    const { prefixes } = provider;
    const upstream = {
      provider: provider.name,
      root,
      isOwn: set === true,
      prefixes: prefixes || undefined,
    };
    return { provider, upstream, hasTail: tail !== false };
  });
  const named = [...recorded, ...inUse.filter(({ provider }) => !known.includes(provider))];
  const others = PROVIDERS.filter(
    (provider) =>
      !CHOSEN_BY_ADDRESS.has(provider.name) && !named.some((one) => one.provider === provider),
  ).map((provider) => {
    const { name, prefixes } = provider;
    return {
      provider,
      upstream: { provider: name, root: NOWHERE, isOwn: false, prefixes: prefixes || undefined },
      hasTail: true,
    };
  });
  return { inUse: [...named, ...others], notes: [] };
}

/**
 * Placeholder keys with which the agent's SDKs start. They replace real ones, so that a call that
 * bypasses the cassette cannot cost anything.
 */
export function dummyKeys(env: Env, providers: Providers): Record<string, string> {
  const set: Record<string, string> = {};
  for (const { name, keys } of PROVIDERS) {
    if (!Object.hasOwn(providers, name)) continue;
    const real = keys.filter((key) => !SWITCHES.test(key));
    const present = real.filter((key) => env[key]);
    for (const key of present) if (!SHARED.has(key)) set[key] = dummyOf(key);
    const [first] = real;
    if (present.length === 0 && first !== undefined) set[first] = dummyOf(first);
    if (name !== 'bedrock') continue;
    if (!env.AWS_ACCESS_KEY_ID) set.AWS_ACCESS_KEY_ID = dummyOf('AWS_ACCESS_KEY_ID');
    if (!env.AWS_SECRET_ACCESS_KEY) set.AWS_SECRET_ACCESS_KEY = DUMMY;
    if (!env.AWS_REGION && !env.AWS_DEFAULT_REGION) set.AWS_REGION = 'us-east-1';
  }
  return set;
}

/** Like `dummyKeys`, for agents that may also call real providers: keys of the user stay. */
export function missingKeys(env: Env, providers: Providers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(dummyKeys(env, providers)).filter(([name]) => !env[name]),
  );
}

const dummyOf = (key: string): string => DUMMIES[key] ?? DUMMY;

/** Remote addresses are not stored, because the name of a gateway may be confidential. */
function placeOf(root: string): { readonly at?: string } {
  const { provider } = unnamedUpstream(new URL(root));
  return isUnnamedLocal(provider) ? { at: provider.slice(1) } : {};
}

/** The providers of the recorded agent for the header, without those it did not call. */
export function providersToKeep(
  found: ProvidersInUse,
  called: ReadonlySet<string>,
): Record<string, CassetteProvider> {
  const kept: Record<string, CassetteProvider> = {};
  for (const name of [...called].sort()) {
    const one = found.inUse.find(({ provider }) => provider.name === name);
    kept[name] = {
      tail: one?.hasTail === false ? (false as const) : undefined,
      ...(one?.upstream.isOwn === true
        ? { set: true as const, ...placeOf(one.upstream.root) }
        : {}),
    };
  }
  return kept;
}
