import { chmodSync, existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { canonicalJson, isObject, present } from '@agentci/lib/data';
import { writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { findProgram } from '@agentci/lib/process';
import { escapeTerminalLine } from '@agentci/lib/text';
import type { Io } from '../cli/io.ts';
import { loadPolicy } from '../policy-command/load-policy.ts';
import { changeServers, type NamedServer } from './client-servers.ts';
import type { GuardFlags } from './flags.ts';
import { cleanName } from './server-name.ts';

interface InstallFlags extends GuardFlags {
  readonly config?: string;
  readonly undo?: boolean;
}

type Server = Record<string, unknown>;

/** Options for a single server. Installation changes all servers of a configuration. */
const OF_ONE_SERVER = ['server', 'url', 'listen'] as const;
const NOT_GUARDED = 2;
const UNWRAPPED = 'GUARD_NOT_WRAPPED';

/** Wraps every server in a client's configuration with the guard, or unwraps it. */
export async function installGuard(flags: InstallFlags, io: Io): Promise<number> {
  if (flags.config === undefined)
    throw new UserError('FILE_UNREADABLE', 'no configuration was given', {
      hint: 'guard install --config .mcp.json --policy policy.yaml',
    });
  const misplaced = OF_ONE_SERVER.find((option) => flags[option] !== undefined);
  if (misplaced !== undefined)
    throw new UserError(
      'FILE_UNREADABLE',
      `--${misplaced} cannot be installed: it is about one server`,
      {
        hint: 'leave it out, because servers keep their names from the configuration',
      },
    );
  const path = resolve(io.cwd, flags.config);
  const text = readConfig(path, flags.config);
  const config = parseConfig(text, flags.config);
  const say = (line: string): void =>
    io.stderr.write(`agentci guard: ${escapeTerminalLine(line)}\n`);
  const change = flags.undo === true ? unwrap : await wrapper(flags, io);
  const { after, servers } = changeServers(config, change);
  if (servers === undefined)
    throw new UserError('FILE_UNREADABLE', `${flags.config} has no "mcpServers"`, {
      hint: 'name the file in which your client lists its servers',
    });
  const backup = `${path}.before-guard`;
  const kept = flags.undo === true ? readBackup(backup) : undefined;
  // A configuration may hold keys, so the file mode stays.
  const mode = statSync(path).mode & 0o777;
  const write = (file: string, content: string): void => {
    writeFileAtomic(file, content, { mode });
    chmodSync(file, mode);
  };
  // The original is backed up once and never replaced by a guarded version.
  if (flags.undo !== true && !existsSync(backup)) write(backup, text);
  if (kept !== undefined && isSame(kept, after)) {
    // Nothing else has changed since, so the backup is restored byte for byte.
    write(path, kept);
    rmSync(backup, { force: true });
  } else write(path, `${JSON.stringify(after, null, 2)}\n`);
  const count = servers.filter(({ before, now }) => before !== now).length;
  say(
    `${flags.config}: ${flags.undo === true ? `took the guard from ${count}` : `guarded ${count}`} of ${servers.length} servers`,
  );
  const open = flags.undo === true ? [] : servers.filter(({ now }) => !isWrapped(now));
  for (const { shown } of open)
    say(
      `${shown} is reached by HTTP: run agentci guard --url for it and put its address into the configuration (${UNWRAPPED})`,
    );
  return open.length === 0 ? 0 : NOT_GUARDED;
}

/** Wraps a server's command with the guard and all given options. */
async function wrapper(flags: InstallFlags, io: Io): Promise<(server: NamedServer) => unknown> {
  if (flags.policy === undefined)
    throw new UserError('OPTION_INVALID', 'a policy is needed: --policy FILE');
  // A guard that cannot start would disable every server.
  loadPolicy(flags.policy, { strict: flags.strict ?? false, io });
  // Clients start servers in arbitrary directories.
  const absolute = (file: string): string => resolve(io.cwd, file).replaceAll('\\', '/');
  const program = programFor(io);
  const logs = new Set<string>();
  /** Each server has a separate log, even if two projects use the same name. */
  const logFor = (name: string): string => {
    for (let i = 1; ; i++) {
      const ending = i === 1 ? cleanName(name) : `${cleanName(name)}-${i}`;
      const file = absolute(flags.audit!).replace(/(\.[^./]*)?$/, `-${ending}$1`);
      if (logs.has(file)) continue;
      logs.add(file);
      return file;
    }
  };
  const options = (name: string): string[] =>
    present([
      ...['--policy', absolute(flags.policy!), '--server', name],
      ...(flags.mode === 'shadow' ? ['--mode', 'shadow'] : []),
      flags.strict === true ? '--strict' : undefined,
      ...(flags.audit === undefined ? [] : ['--audit', logFor(name)]),
      ...(flags.auditArgs === 'hash' ? ['--audit-args', 'hash'] : []),
      ...(flags.denyAs === 'error' ? ['--deny-as', 'error'] : []),
      ...(flags.agent === undefined ? [] : ['--agent', flags.agent]),
      ...(flags.scope === 'process' ? ['--scope', 'process'] : []),
    ]);
  return ({ name, server }) => {
    if (!isObject(server) || typeof server.command !== 'string' || isWrapped(server)) return server;
    const [command, ...first] = program;
    const args = [...first, 'guard', ...options(name), '--', server.command, ...argsOf(server)];
    return { ...server, command, args };
  };
}

/** Folders that are only on the PATH while a package manager runs a command. */
const PASSING = /(?:^|[\\/])(?:node_modules[\\/]\.bin|_npx|(?:xfs|dlx|bunx)-[^\\/]*)(?:[\\/]|$)/;

/** The command for this program. Clients only have their user's PATH. */
function programFor({ env, cwd }: Io): readonly string[] {
  const PATH = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !PASSING.test(folder))
    .join(delimiter);
  if (findProgram('agentci', { env: { ...env, PATH }, cwd }) !== undefined) return ['agentci'];
  return [process.execPath, realpathSync(process.argv[1] ?? '')];
}

/** The original server. */
function unwrap({ server }: NamedServer): unknown {
  if (!isWrapped(server)) return server;
  const args = argsOf(server as Server);
  const [command, ...rest] = args.slice(args.indexOf('--', args.indexOf('guard')) + 1);
  const { args: _, ...others } = server as Server;
  return { ...others, command, args: rest.length === 0 ? undefined : rest };
}

function isWrapped(server: unknown): boolean {
  if (!isObject(server)) return false;
  const args = argsOf(server);
  const at = args.indexOf('guard');
  return at >= 0 && at <= 1 && args[at + 1] === '--policy' && args.indexOf('--', at) > 0;
}

const argsOf = ({ args }: Server): string[] => (Array.isArray(args) ? args.map(String) : []);

function readConfig(path: string, shown: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UserError(
      'FILE_UNREADABLE',
      `"${shown}" cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

const readBackup = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, 'utf8') : undefined;

/** Whether a text is this configuration in any format. */
function isSame(text: string, config: unknown): boolean {
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(config);
  } catch {
    return false;
  }
}

function parseConfig(text: string, shown: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new UserError('FILE_UNREADABLE', `"${shown}" is not a JSON object`, {
    hint: 'comments cannot be kept, remove them first',
  });
}
