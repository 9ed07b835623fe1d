import { refuseLinksIn } from '@agentci/lib/files';
import { isSystemError, systemErrorText, UserError } from '@agentci/lib/problems';
import { SECRETS, secretsIn } from '@agentci/lib/secrets';
import { didYouMean, escapeTerminal } from '@agentci/lib/text';
import { Command, CommanderError } from 'commander';
import type { CliCommand } from './cli-command.ts';
import { COMMANDS } from './commands/index.gen.ts';
import type { Io, Output } from './io.ts';
import { userErrorText } from './user-error-text.ts';

/** Runs one command line and returns the exit code. The only place that turns errors into text. */
export async function main(argv: readonly string[], given: Io): Promise<number> {
  SECRETS.add(secretsIn(given.env));
  refuseLinksIn(given.cwd);
  const { io, flush } = maskedIo(given);
  try {
    return await dispatch(argv, io);
  } finally {
    flush();
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined) {
    io.stderr.write('agentci: no command given, see agentci --help\n');
    return 2;
  }
  // `agentci help test` works like `agentci test --help`.
  const [about] = rest;
  if (name === 'help' && about !== undefined && Object.hasOwn(COMMANDS, about))
    return dispatch([about, '--help'], io);
  if (!Object.hasOwn(COMMANDS, name)) {
    const near = didYouMean(name, Object.keys(COMMANDS));
    const what = name.startsWith('-') ? 'option' : 'command';
    io.stderr.write(
      `agentci: unknown ${what} "${escapeTerminal(name)}"${near ? `; did you mean "${near}"?` : ''}\n  agentci --help lists all commands\n`,
    );
    return 2;
  }
  const command: CliCommand = await COMMANDS[name as keyof typeof COMMANDS].load();
  return runCommand(command, rest, io);
}

async function runCommand(command: CliCommand, argv: readonly string[], io: Io): Promise<number> {
  const parser = new Command(`agentci ${command.name}`)
    .description(command.summary)
    .exitOverride()
    .showSuggestionAfterError(true)
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: io.stdout.write,
      writeErr: io.stderr.write,
      outputError: (text, write) => write(inOwnWords(text)),
    });
  command.configure(parser);
  try {
    parser.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return 0;
    if (error.code === 'commander.excessArguments')
      io.stderr.write(strayHint(parser, command.name));
    io.stderr.write(`  agentci ${command.name} --help shows all options\n`);
    return 2;
  }
  try {
    return await command.run({ args: parser.args, options: parser.opts(), io });
  } catch (error) {
    if (error instanceof UserError) io.stderr.write(userErrorText(error, io.env));
    else if (isSystemError(error))
      io.stderr.write(`agentci: ${escapeTerminal(systemErrorText(error)!)} [SYSTEM]\n`);
    else throw error;
    return 2;
  }
}

const OPTION_INVALID = 'OPTION_INVALID';

/** Rewords the parser's errors to match ours. */
function inOwnWords(text: string): string {
  const said = text
    .trim()
    .replace(/^error: /, '')
    .replace(
      /^option '(?:-\w, )?(--?[\w-]+)[^']*' argument '([\s\S]*?)' is invalid\. ?/,
      '$1: "$2" cannot be used: ',
    )
    .replace(/\.$/, '');
  const [first, ...rest] = said.split('\n');
  return [
    `agentci: ${escapeTerminal(first!)} [${OPTION_INVALID}]`,
    ...rest.map((line) => `  ${escapeTerminal(line)}`),
    '',
  ].join('\n');
}

/** An argument without its flag is usually meant as the spec. */
function strayHint(parser: Command, name: string): string {
  const [stray] = parser.args;
  const takesSpec = parser.options.some(({ long }) => long === '--config');
  return stray !== undefined && takesSpec && /\.ya?ml$/i.test(stray)
    ? `  hint: name the spec with -c: agentci ${name} -c ${escapeTerminal(stray)}\n`
    : '';
}

/** An `Io` that keeps secrets off the terminal. `flush` writes the buffered output. */
export function maskedIo(io: Io): { readonly io: Io; readonly flush: () => void } {
  const stdout = maskedOutput(io.stdout);
  const stderr = maskedOutput(io.stderr);
  return {
    io: { ...io, stdout: stdout.output, stderr: stderr.output },
    flush: () => {
      stdout.flush();
      stderr.flush();
    },
  };
}

function maskedOutput(output: Output): { readonly output: Output; readonly flush: () => void } {
  const { write, flush } = SECRETS.pieces(output.write);
  return {
    output: {
      write,
      isTerminal: output.isTerminal,
      // A getter, because users resize terminals.
      get columns() {
        return output.columns;
      },
    },
    flush,
  };
}
