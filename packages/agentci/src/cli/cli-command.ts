import type { Command } from 'commander';
import type { Io } from './io.ts';

/** A command of the program. `npm run gen` finds every file in `commands/` that exports one. */
export interface CliCommand {
  readonly name: string;
  /** One line for `agentci --help`. */
  readonly summary: string;
  /** Declares arguments, options and an example. */
  readonly configure: (command: Command) => void;
  /**
   * Returns the exit code. A `UserError` becomes text and exit 2. Any other error is a bug and
   * prints its stack.
   */
  readonly run: (input: CommandInput) => Promise<number>;
}

export interface CommandInput {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly io: Io;
}
