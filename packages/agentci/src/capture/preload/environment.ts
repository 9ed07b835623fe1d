import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PlaneContext } from '../plane.ts';
import type { Upstream } from '../upstreams.ts';

/** The file that Node programs load first. In the build it is beside the program, here beside this file. */
const FILE = fileURLToPath(new URL('./register.cjs', import.meta.url));

/**
 * Host and path of a model's call wherever it is made. Only what hardly means anything else: servers of tools have paths
 * such as `/messages` and `/api/chat`, and embeddings on this machine are mostly part of a tool.
 */
const MODEL_CALL =
  /\/chat\/completions$|\/v1\/(?:messages|responses|completions|complete)$|:(?:stream)?(?:generateContent|rawPredict)$|\/model\/[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)$|:11434\/api\/(?:chat|generate)$/i;

/** The variables that make Node programs call known hosts through the front, whatever their SDKs read. */
export function preloadEnvironment(
  { origin, base, env }: PlaneContext,
  {
    hosts,
    upstreams,
    isOffline = false,
  }: {
    readonly hosts: readonly (string | RegExp)[];
    readonly upstreams: readonly Upstream[];
    /** Calls of models come to the front whatever address they name. */
    readonly isOffline?: boolean;
  },
): Record<string, string> {
  if (!existsSync(FILE)) return {};
  return {
    NODE_OPTIONS: [env.NODE_OPTIONS, `--require ${quoted(FILE)}`].filter(Boolean).join(' '),
    AGENTCI_PRELOAD: JSON.stringify({
      front: new URL(origin).host,
      base: `${base}/llm`,
      hosts: hosts.filter((host) => typeof host === 'string'),
      patterns: hosts.flatMap((host) => (typeof host === 'string' ? [] : [host.source])),
      // An address of the user's own may also be written in the agent's code.
      roots: upstreams.filter(({ isOwn }) => isOwn).map(({ root, provider }) => [root.replace(/\/+$/, ''), provider]),
      ...(isOffline ? { calls: MODEL_CALL.source } : {}),
    }),
  };
}

/** As NODE_OPTIONS takes a path with spaces. */
const quoted = (path: string): string => (/[\s"\\]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path);
