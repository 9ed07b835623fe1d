import { isLoopback } from './model/model-call.ts';

/** Where the calls of one provider go. */
export interface Upstream {
  readonly provider: string;
  /** What stands in for `/r/TOKEN/llm/PROVIDER`. */
  readonly root: string;
  /** Set in place of the provider's own address by the user: paths are taken as they come. */
  readonly isOwn: boolean;
  /** For the provider's own address: paths as some clients write them, and the prefix they lack there. */
  readonly prefixes?: readonly (readonly [start: string, prefix: string])[];
}

/** Parts of an address that may be written down. Keys travel in the others, whatever they are called. */
const KEPT_PARAMETERS: ReadonlySet<string> = new Set([
  'alt',
  'api-version',
  'beta',
  'stream',
  'limit',
  'order',
]);

/**
 * A server that is called by an address in the agent's own code: no variable and no table names it. This machine has one name,
 * so that `localhost` and `127.0.0.1` are the same server in a cassette.
 */
export function unnamedUpstream({ origin, hostname, port }: URL): Upstream {
  const host = isLoopback(hostname) ? 'localhost' : hostname;
  return { provider: `@${host}${port === '' ? '' : `:${port}`}`, root: origin, isOwn: true };
}

/** Whether a provider's name is that of an unnamed server, and one of this machine. */
export const isUnnamed = (provider: string): boolean => provider.startsWith('@');
export const isUnnamedLocal = (provider: string): boolean => /^@localhost(?::\d+)?$/.test(provider);

interface Target {
  readonly target: URL;
  readonly uri: string;
}

/** The address a request goes to, and the address as it may be shown: without credentials, keys and a gateway's own path. */
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
