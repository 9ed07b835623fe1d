import type { Command } from 'commander';
import type { Io } from './io.ts';

/** One command of the program. A file in `commands/` that exports one is found by `npm run gen`; nothing else to edit. */
export interface CliCommand {
  readonly name: string;
  /** One line for `agentci --help`. */
  readonly summary: string;
  /** Declares arguments, options and an example. */
  readonly configure: (command: Command) => void;
  /** Gives the exit code. A `UserError` thrown here becomes text and exit 2; anything else is a bug and shows its stack. */
  readonly run: (input: CommandInput) => Promise<number>;
}

export interface CommandInput {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly io: Io;
}
