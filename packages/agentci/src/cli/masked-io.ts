import { SECRETS } from '@agentci/lib/secrets';
import type { Io, Output } from './io.ts';

/** The outside world of a command, where no secret reaches a terminal. `flush` gives out what was held back. */
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
      // Terminals change their width.
      get columns() {
        return output.columns;
      },
    },
    flush,
  };
}
