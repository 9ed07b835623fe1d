import { isObject } from '@agentci/lib/data';

/** A server from a client's configuration. */
export interface NamedServer {
  readonly name: string;
  readonly server: unknown;
}

interface ChangedServer {
  /** Its name, with its location unless that is the top level. */
  readonly shown: string;
  readonly before: unknown;
  readonly now: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** Deeper than the nested projects of any client. */
const MAX_DEPTH = 16;

/**
 * Changes every server of a configuration: at the top level, under `mcp`, or for one project
 * (`projects.*.mcpServers`). `servers` is absent without a list of servers.
 */
export function changeServers(
  config: Fields,
  change: (server: NamedServer) => unknown,
): { readonly after: Fields; readonly servers: readonly ChangedServer[] | undefined } {
  const servers: ChangedServer[] = [];
  let isFound = false;
  const visit = (fields: Fields, path: readonly string[]): Fields =>
    withValues(fields, (key, value) => {
      const at = [...path, key];
      if (!isObject(value) || at.length > MAX_DEPTH) return value;
      if (!isList(at)) return visit(value, at);
      isFound = true;
      return withValues(value, (name, server) => {
        const now = change({ name, server });
        servers.push({ shown: [...path, name].join('.'), before: server, now });
        return now;
      });
    });
  const after = visit(config, []);
  return { after, servers: isFound ? servers : undefined };
}

function isList(path: readonly string[]): boolean {
  const [key = '', parent] = path.toReversed();
  return (
    /(?:^|\.)mcpServers$/.test(key) ||
    (key === 'servers' && (parent === undefined || parent === 'mcp'))
  );
}

const withValues = (fields: Fields, change: (key: string, value: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(key, value)]));
