import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAYBE_MODEL_CALL, MODEL_CALL } from '../model/model-call.ts';
import type { PlaneContext } from '../plane.ts';
import type { Upstream } from '../upstreams.ts';

/**
 * The file that Node programs load first. In the build it is next to the program, here next to this
 * file.
 */
const FILE = fileURLToPath(new URL('./register.cjs', import.meta.url));

/** Found before the real `node` on PATH. Adds the file again if the agent has removed it. */
const NODE = fileURLToPath(new URL('./path/node', import.meta.url));

/**
 * The variables that make Node programs call models through the front, independent of the settings
 * of their SDKs.
 */
export function preloadEnvironment(
  { origin, base, env }: PlaneContext,
  {
    hosts,
    upstreams,
    isOffline = false,
  }: {
    readonly hosts: readonly (string | RegExp)[];
    readonly upstreams: readonly Upstream[];
    /** Sends nothing upstream. A call is not made directly, even if the front is gone. */
    readonly isOffline?: boolean;
  },
): Record<string, string> {
  if (!existsSync(FILE)) return {};
  const option = `--require ${quoted(FILE)}`;
  return {
    NODE_OPTIONS: [env.NODE_OPTIONS, option].filter(Boolean).join(' '),
    ...pathWith(env.PATH, option),
    AGENTCI_PRELOAD: JSON.stringify({
      front: new URL(origin).host,
      base: `${base}/llm`,
      hosts: hosts.filter((host) => typeof host === 'string'),
      patterns: hosts.flatMap((host) => (typeof host === 'string' ? [] : [host.source])),
      // A custom address may also be in the agent's code.
      roots: upstreams
        .filter(({ isOwn }) => isOwn)
        .map(({ root, provider }) => [root.replace(/\/+$/, ''), provider]),
      calls: MODEL_CALL.source,
      maybe: MAYBE_MODEL_CALL.source,
      option,
      isOffline: isOffline || undefined,
    }),
  };
}

/** The form in which NODE_OPTIONS takes a path with spaces. */
const quoted = (path: string): string =>
  /[\s"\\]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;

/**
 * If the file is not executable, as in an archive, programs that drop the option are not captured.
 */
function pathWith(path: string | undefined, option: string): Record<string, string> {
  if (process.platform === 'win32' || !path) return {};
  try {
    accessSync(NODE, constants.X_OK);
  } catch {
    return {};
  }
  return { PATH: `${dirname(NODE)}${delimiter}${path}`, AGENTCI_PRELOAD_OPTION: option };
}
