import { isLoopback } from './model/model-call.ts';

/** The target of one provider's calls. */
export interface Upstream {
  readonly provider: string;
  /** Replaces `/r/TOKEN/llm/PROVIDER`. */
  readonly root: string;
  /** Set by the user in place of the provider's own address. Paths stay unchanged. */
  readonly isOwn: boolean;
  /** For the provider's own address: paths of some clients, and the prefix they lack. */
  readonly prefixes?: readonly (readonly [start: string, prefix: string])[];
}

/** Parameters that may be recorded. The others may contain keys under any name. */
const KEPT_PARAMETERS: ReadonlySet<string> = new Set([
  'alt',
  'api-version',
  'beta',
  'stream',
  'limit',
  'order',
]);

/**
 * A server that the agent's code addresses by URL, without a variable or table entry. All names of
 * this machine are unified, so that `localhost` and `127.0.0.1` are the same server in a cassette.
 */
export function unnamedUpstream({ origin, hostname, port }: URL): Upstream {
  const host = isLoopback(hostname) ? 'localhost' : hostname;
  return { provider: `@${host}${port === '' ? '' : `:${port}`}`, root: origin, isOwn: true };
}

/** Whether a provider's name is that of an unnamed local server. */
export const isUnnamed = (provider: string): boolean => provider.startsWith('@');
export const isUnnamedLocal = (provider: string): boolean => /^@localhost(?::\d+)?$/.test(provider);

interface Target {
  readonly target: URL;
  readonly uri: string;
}

/**
 * The target address of a request, and its loggable form without credentials, keys and a gateway's
 * own path.
 */
export function targetOf(upstream: Upstream, path: string): Target {
  const { root, isOwn, prefixes = [] } = upstream;
  const prefix = isOwn ? undefined : prefixes.find(([start]) => path.startsWith(start))?.[1];
  const full = `${prefix ?? ''}${path}`;
  const target = new URL(root.replace(/\/+$/, '') + full);
  const shown = new URL(full, target.origin);
  for (const name of [...shown.searchParams.keys()])
    if (!KEPT_PARAMETERS.has(name)) shown.searchParams.delete(name);
  return { target, uri: `${target.origin}${shown.pathname}${shown.search}` };
}
