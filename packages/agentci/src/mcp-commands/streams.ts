import type { Readable, Writable } from 'node:stream';

/** The bytes of this process's own input and output, for a client that started it as a server. */
export function clientStreams(): { readonly input: Readable; readonly output: Writable } {
  // Node writes to pipes while everything else waits; a client that reads slowly must not stop what is read from it.
  const handle = (process.stdout as { _handle?: { setBlocking?: (isBlocking: boolean) => void } })
    ._handle;
  handle?.setBlocking?.(false);
  return { input: process.stdin, output: process.stdout };
}

export const parentId = (): number => process.ppid;
