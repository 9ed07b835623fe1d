import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeTerminalLine } from '../../kit/escape.ts';
import { canonicalJson } from '../../kit/hash.ts';
import { isObject } from '../../kit/object.ts';
import { UserError } from '../../kit/user-error.ts';
import { writeFileAtomic } from '../../store/atomic-write.ts';
import { findProgram } from '../find-program.ts';
import type { Io } from '../io.ts';
import { loadPolicy } from '../load-policy.ts';
import { cleanName } from './server-name.ts';

interface InstallFlags {
  readonly config?: string;
  readonly policy?: string;
  readonly mode?: string;
  readonly audit?: string;
  readonly strict?: boolean;
  readonly undo?: boolean;
}

type Server = Record<string, unknown>;

/** Where clients keep their servers. */
const PLACES = ['mcpServers', 'servers'];
const NOT_GUARDED = 2;
const UNWRAPPED = 'GUARD_NOT_WRAPPED';

/** Puts the guard before every server in a client's configuration, or takes it out again. */
export async function installGuard(flags: InstallFlags, io: Io): Promise<number> {
  if (flags.config === undefined)
    throw new UserError('GUARD_CONFIG', 'no configuration was given', {
      hint: 'guard install --config .mcp.json --policy policy.yaml',
    });
  const path = resolve(io.cwd, flags.config);
  const text = readConfig(path, flags.config);
  const config = parseConfig(text, flags.config);
  const say = (line: string): void => io.stderr.write(`agentci guard: ${escapeTerminalLine(line)}\n`);
  const place = PLACES.find((key) => isObject(config[key]));
  if (place === undefined)
    throw new UserError('GUARD_CONFIG', `${flags.config} has no "mcpServers"`, {
      hint: 'name the file in which your client lists its servers',
    });
  const servers = Object.entries(config[place] as Record<string, unknown>);
  const backup = `${path}.before-guard`;
  const changed = flags.undo === true ? servers.map(unwrap) : await wrapAll(servers, flags, io);
  const after = { ...config, [place]: Object.fromEntries(changed) };
  const kept = flags.undo === true ? readBackup(backup) : undefined;
  // A configuration may hold keys: whoever could not read it before cannot read it now.
  const mode = statSync(path).mode & 0o777;
  const write = (file: string, content: string): void => {
    writeFileAtomic(file, content, { mode });
    chmodSync(file, mode);
  };
  // What was there before the guard is kept once, and is not replaced by a guarded one.
  if (flags.undo !== true && !existsSync(backup)) write(backup, text);
  if (kept !== undefined && isSame(kept, after)) {
    // Nothing else was changed since, so the file is what it was, to the byte.
    write(path, kept);
    rmSync(backup, { force: true });
  } else write(path, `${JSON.stringify(after, null, 2)}\n`);
  const count = changed.filter(([, server], i) => server !== servers[i]![1]).length;
  say(
    `${flags.config}: ${flags.undo === true ? `took the guard from ${count}` : `guarded ${count}`} of ${servers.length} servers`,
  );
  const open = flags.undo === true ? [] : changed.filter(([, server]) => !isWrapped(server)).map(([name]) => name);
  for (const name of open)
    say(
      `${name} is reached by HTTP: run agentci guard --url for it and put its address into the configuration (${UNWRAPPED})`,
    );
  return open.length === 0 ? 0 : NOT_GUARDED;
}

async function wrapAll(
  servers: readonly (readonly [string, unknown])[],
  flags: InstallFlags,
  io: Io,
): Promise<(readonly [string, unknown])[]> {
  if (flags.policy === undefined) throw new UserError('NO_POLICY', 'a policy is needed: --policy FILE');
  // A guard that cannot start would take every server away.
  await loadPolicy(flags.policy, { strict: flags.strict ?? false, io });
  // Clients start servers in folders of their choice.
  const absolute = (file: string): string => resolve(io.cwd, file).replaceAll('\\', '/');
  const program =
    findProgram('agentci', io) !== undefined ? ['agentci'] : [process.execPath, resolve(process.argv[1] ?? '')];
  const options = (name: string): string[] => [
    ...['--policy', absolute(flags.policy!), '--server', name],
    ...(flags.mode === 'shadow' ? ['--mode', 'shadow'] : []),
    ...(flags.strict === true ? ['--strict'] : []),
    ...(flags.audit === undefined
      ? []
      : ['--audit', absolute(flags.audit).replace(/(\.[^./]*)?$/, `-${cleanName(name)}$1`)]),
  ];
  return servers.map(([name, server]) => {
    if (!isObject(server) || typeof server.command !== 'string' || isWrapped(server)) return [name, server];
    const [command, ...first] = program;
    const args = [...first, 'guard', ...options(name), '--', server.command, ...argsOf(server)];
    return [name, { ...server, command, args }];
  });
}

/** The server that was there before. */
function unwrap([name, server]: readonly [string, unknown]): readonly [string, unknown] {
  if (!isWrapped(server)) return [name, server];
  const args = argsOf(server as Server);
  const [command, ...rest] = args.slice(args.indexOf('--', args.indexOf('guard')) + 1);
  const { args: _, ...others } = server as Server;
  return [name, { ...others, command, ...(rest.length === 0 ? {} : { args: rest }) }];
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
    throw new UserError('GUARD_CONFIG', `"${shown}" cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

const readBackup = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** Whether a text is this configuration, however it is written. */
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
    // Said below.
  }
  throw new UserError('GUARD_CONFIG', `"${shown}" is not a JSON object`, {
    hint: 'comments cannot be kept; take them out first',
  });
}
