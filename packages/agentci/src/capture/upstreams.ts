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
const KEPT_PARAMETERS: ReadonlySet<string> = new Set(['alt', 'api-version', 'beta', 'stream', 'limit', 'order']);

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
  for (const name of [...shown.searchParams.keys()]) if (!KEPT_PARAMETERS.has(name)) shown.searchParams.delete(name);
  return { target, uri: `${target.origin}${shown.pathname}${shown.search}` };
}
