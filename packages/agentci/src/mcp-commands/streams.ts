import type { Readable, Writable } from 'node:stream';

/** The stdio of this process as byte streams, for a client that started it as a server. */
export function clientStreams(): { readonly input: Readable; readonly output: Writable } {
  // Node writes to pipes synchronously. A client that reads slowly must not stop reads from it.
  const handle = (process.stdout as { _handle?: { setBlocking?: (isBlocking: boolean) => void } })
    ._handle;
  handle?.setBlocking?.(false);
  return { input: process.stdin, output: process.stdout };
}

export const parentId = (): number => process.ppid;
