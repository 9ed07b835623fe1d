import { escapeTerminal } from '../../kit/escape.ts';
import { maskText, SECRETS, secretsIn } from '../../kit/secrets.ts';
import { isSystemError, systemErrorText } from '../../kit/system-error.ts';
import { UserError } from '../../kit/user-error.ts';
import type { Io, Output } from '../io.ts';
import { userErrorText } from '../user-error-text.ts';
import { runGuard } from './run-guard.ts';
import { runTap } from './run-tap.ts';

/**
 * The way a client starts a guard or a tap: plain options and a server. An MCP client waits for its servers, so what a
 * command needs beside that (help, suggestions, other commands) is not loaded; for anything else than plain options the
 * whole program is.
 */
const FLAGS: Readonly<Record<string, Readonly<Record<string, true | 'flag' | readonly string[]>>>> =
  {
    guard: {
      policy: true,
      mode: ['enforce', 'shadow'],
      audit: true,
      'audit-args': ['redacted', 'hash'],
      'deny-as': ['result', 'error'],
      server: true,
      agent: true,
      strict: 'flag',
      url: true,
      listen: true,
      scope: ['client', 'process'],
    },
    tap: {
      server: true,
      out: true,
      play: true,
      url: true,
      listen: true,
      cassette: true,
      unmasked: 'flag',
    },
  };

const EXIT_COULD_NOT_TELL = 2;
const EXIT_INTERRUPTED = 130;

export interface PlainCommand {
  readonly name: string;
  readonly flags: Readonly<Record<string, string | true>>;
  readonly server: readonly string[];
}

/** Reads a command line that is written plainly; undefined for any other. */
export function readPlain([name = '', ...argv]: readonly string[]): PlainCommand | undefined {
  const known = FLAGS[name];
  if (known === undefined) return undefined;
  const flags: Record<string, string | true> = {};
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word === '--') return { name, flags, server: argv.slice(i + 1) };
    const [, long, inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const kind = long === undefined || !Object.hasOwn(known, long) ? undefined : known[long];
    if (long === undefined || kind === undefined) return undefined;
    const key = long.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (kind === 'flag') {
      if (inline !== undefined) return undefined;
      flags[key] = true;
      continue;
    }
    const value = inline ?? argv[++i];
    if (
      value === undefined ||
      value.trim() === '' ||
      (inline === undefined && value.startsWith('-'))
    )
      return undefined;
    if (kind !== true && !kind.includes(value)) return undefined;
    flags[key] = value;
  }
  return { name, flags, server: [] };
}

/** Runs it, and gives false where the whole program is needed. */
export async function startLean(argv: readonly string[], version: string): Promise<boolean> {
  const plain = readPlain(argv);
  if (plain === undefined) return false;
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => {
      if (interrupt.signal.aborted) process.exit(EXIT_INTERRUPTED);
      interrupt.abort();
    });
  process.on('uncaughtException', (error) => {
    process.stderr.write(
      maskText(`agentci: ${systemErrorText(error) ?? error.stack ?? error.message}\n`),
    );
    process.exit(EXIT_COULD_NOT_TELL);
  });
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  SECRETS.add(secretsIn(process.env));
  const output = (stream: NodeJS.WriteStream): Output => ({
    write: (text) => {
      stream.write(maskText(text));
    },
    isTerminal: stream.isTTY === true,
    columns: stream.columns ?? 100,
  });
  const io: Io = {
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    signal: interrupt.signal,
    now: Date.now,
    random: Math.random,
    version,
  };
  let code: number;
  try {
    code = await (plain.name === 'guard' ? runGuard : runTap)(plain.server, plain.flags, io);
  } catch (error) {
    if (error instanceof UserError) io.stderr.write(userErrorText(error, io.env));
    else if (isSystemError(error))
      io.stderr.write(`agentci: ${escapeTerminal(systemErrorText(error)!)} [SYSTEM]\n`);
    else throw error;
    code = EXIT_COULD_NOT_TELL;
  }
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
  return true;
}
