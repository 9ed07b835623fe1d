import type { Io, Output } from '../../src/cli/io.ts';

/** A fake `Io` that keeps the output. */
export function ioOf(
  cwd: string,
  rest: Partial<Pick<Io, 'env' | 'now' | 'signal'>> & { isTerminal?: boolean } = {},
) {
  const written = { stdout: '', stderr: '' };
  const { isTerminal = false, ...given } = rest;
  const output = (name: keyof typeof written): Output => ({
    write: (text) => {
      written[name] += text;
    },
    isTerminal,
    columns: 40,
  });
  const io: Io = {
    stdout: output('stdout'),
    stderr: output('stderr'),
    env: {},
    cwd,
    signal: new AbortController().signal,
    now: () => Date.parse('2026-01-01T00:00:00Z'),
    random: () => 0,
    version: '0.0.0',
    ...given,
  };
  return { io, written };
}
