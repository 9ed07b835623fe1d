import { readFileSync } from 'node:fs';
import { isObject } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';

/** The servers in a client's configuration, and its other fields. */
export interface McpConfig {
  readonly root: Readonly<Record<string, unknown>>;
  readonly place: string;
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Keys under which clients list their servers. */
const PLACES = ['mcpServers', 'servers'];

/** Reads the configuration of an MCP client. */
export function readMcpConfig(path: string): McpConfig {
  let root: unknown;
  try {
    root = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    let why: string;
    if (code === undefined) why = 'is not JSON';
    else if (code === 'ENOENT') why = 'does not exist';
    else why = `cannot be read (${code})`;
    throw new UserError('FILE_UNREADABLE', `the MCP configuration "${path}" ${why}`);
  }
  const place = isObject(root)
    ? PLACES.find((key) => isObject((root as Record<string, unknown>)[key]))
    : undefined;
  if (place === undefined)
    throw new UserError('FILE_UNREADABLE', `the MCP configuration "${path}" has no "mcpServers"`);
  const all = root as Record<string, unknown>;
  const servers = Object.entries(all[place] as Record<string, unknown>).filter(([, server]) =>
    isObject(server),
  );
  return { root: all, place, servers: Object.fromEntries(servers) as McpConfig['servers'] };
}

/** Wraps every server of a configuration in a tap. */
export function withTaps(
  { root, place, servers }: McpConfig,
  tap: {
    readonly command: (name: string) => readonly string[];
    readonly url: (name: string) => string;
  },
): Record<string, unknown> {
  const tapped = Object.entries(servers).map(([name, server]) => {
    if (typeof server.command === 'string') {
      const [command, ...args] = [
        ...tap.command(name),
        '--',
        server.command,
        ...listOf(server.args),
      ];
      return [name, { ...server, command, args }];
    }
    return [name, typeof server.url === 'string' ? { ...server, url: tap.url(name) } : server];
  });
  return { ...root, [place]: Object.fromEntries(tapped) };
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
