import { existsSync } from 'node:fs';
import { Writable } from 'node:stream';
import { systemErrorText } from '@agentci/lib/problems';
import { maskText, SECRETS } from '@agentci/lib/secrets';
import type { Io, Output } from './io.ts';
import { main } from './main.ts';

const EXIT_INTERRUPTED = 130;
const EXIT_COULD_NOT_TELL = 2;
const UNSETTLED = 13;
/** A closed terminal and Ctrl-\\ end a run like Ctrl-C. Agents must not outlive it. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Connects the program to the real process: streams, environment, signals, exit code. */
export async function start(argv: readonly string[], version: string): Promise<void> {
  const interrupt = new AbortController();
  const onSignal = () => {
    // The second Ctrl-C exits immediately.
    if (interrupt.signal.aborted) process.exit(EXIT_INTERRUPTED);
    interrupt.abort();
  };
  for (const signal of ENDING) process.on(signal, onSignal);
  process.on('uncaughtException', (error) => {
    crash(error);
    process.exit(EXIT_COULD_NOT_TELL);
  });
  // A closed pipe, as in `agentci … | head`, is not an error. The verdict still decides the exit
  // code.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const cwd = workingDirectory();
  if (cwd === undefined) return;
  const io: Io = {
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    env: process.env,
    cwd,
    signal: interrupt.signal,
    now: Date.now,
    random: Math.random,
    version,
  };
  // A user's module runs in this process. Its output must not corrupt a report. If it exits the
  // process or hangs, that is not a verdict.
  // biome-ignore lint/suspicious/noConsole: it is the user's module that prints; nothing of ours does
  globalThis.console = new globalThis.console.Console(maskedStream(process.stderr));
  let isDone = false;
  process.on('exit', (exitCode) => {
    // 13: a promise never settled. Other codes have their own reason.
    if (isDone || interrupt.signal.aborted || (exitCode !== 0 && exitCode !== UNSETTLED)) return;
    process.stderr.write(
      'agentci: ended before there was a verdict: a module called process.exit or never answered\n',
    );
    process.exitCode = EXIT_COULD_NOT_TELL;
  });
  let code: number;
  try {
    code = await main(argv, io);
  } catch (error) {
    crash(error);
    code = EXIT_COULD_NOT_TELL;
  }
  isDone = true;
  // An agent's module may leave timers or sockets open. The verdict is out, so the process exits.
  process.stdout.write('', () => {
    const lost = process.stdout.errored as NodeJS.ErrnoException | null;
    const isLost = lost !== null && lost.code !== 'EPIPE';
    if (isLost) process.stderr.write(`agentci: stdout cannot be written: ${lost.message}\n`);
    // A report truncated by a full disk was not delivered, whatever its verdict.
    process.stderr.write('', () => process.exit(isLost && code === 0 ? EXIT_COULD_NOT_TELL : code));
  });
}

/**
 * Undefined if the working directory was deleted, or has a name that is not UTF-8, which Node
 * cannot open.
 */
function workingDirectory(): string | undefined {
  try {
    const cwd = process.cwd();
    if (existsSync(cwd)) return cwd;
    process.stderr.write(
      `agentci: the working folder ${JSON.stringify(cwd)} cannot be opened: its name is not UTF-8 [SYSTEM]\n  hint: Rename it, or run agentci in another folder.\n`,
    );
  } catch (error) {
    crash(error);
  }
  process.exitCode = EXIT_COULD_NOT_TELL;
  return undefined;
}

/**
 * Errors of the machine take one line. Anything else is our bug: it prints a stack, and the exit
 * code claims no verdict.
 */
function crash(error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(maskText(`agentci: ${systemErrorText(error) ?? stack}\n`));
}

function maskedStream(stream: NodeJS.WriteStream): Writable {
  const { write } = SECRETS.pieces((text) => stream.write(text));
  return new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      write(String(chunk));
      done();
    },
  });
}

function output(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => {
      stream.write(text);
    },
    isTerminal: stream.isTTY === true,
    columns: stream.columns ?? 100,
  };
}
