/** An output stream of commands. */
export interface Output {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

/**
 * Everything a command may use from the outside world. `bin.ts` fills it from `process`, tests
 * create it directly.
 */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly random: () => number;
  /** Version of this program. */
  readonly version: string;
}

/** Color on a terminal. `NO_COLOR` and `FORCE_COLOR` take precedence. */
export function wantsColor(output: Output, env: Io['env']): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return output.isTerminal && env.TERM !== 'dumb';
}
