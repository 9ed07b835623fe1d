import type { Readable } from 'node:stream';

/** The action of a key. `filter` includes the typed text. */
export type Key =
  | { readonly key: 'all' | 'failed' | 'open' | 'quit' }
  | { readonly key: 'filter'; readonly text: string };

export const KEY_HELP = 'a all · f failed · / filter · o open the report · q quit';

interface Terminal extends Readable {
  readonly isTTY?: boolean;
  readonly setRawMode?: (isRaw: boolean) => unknown;
}

const CTRL_C = '\u0003';
const SINGLE: Readonly<Record<string, Exclude<Key['key'], 'filter'>>> = {
  a: 'all',
  f: 'failed',
  o: 'open',
  q: 'quit',
};

/**
 * Listens to keys on a terminal. Returns a function that restores the terminal. Does nothing
 * without a terminal.
 */
export function listenToKeys(
  input: Terminal,
  onKey: (key: Key) => void,
  { echo, interrupt }: { readonly echo: (text: string) => void; readonly interrupt: () => void },
): () => void {
  if (input.isTTY !== true || input.setRawMode === undefined) return () => {};
  let typed: string | undefined;
  const onData = (chunk: Buffer | string): void => {
    for (const letter of String(chunk)) {
      if (letter === CTRL_C) interrupt();
      else if (typed === undefined) {
        const key = Object.hasOwn(SINGLE, letter) ? SINGLE[letter] : undefined;
        if (key !== undefined) onKey({ key });
        else if (letter === '/') {
          typed = '';
          echo('\nfilter: ');
        }
      } else if (letter === '\r' || letter === '\n') {
        const text = typed;
        typed = undefined;
        echo('\n');
        onKey({ key: 'filter', text });
      } else if (letter === '\u007f' || letter === '\b') {
        if (typed !== '') echo('\b \b');
        typed = typed.slice(0, -1);
      } else if (letter === '\u001b') {
        typed = undefined;
        echo('\n');
      } else if (letter >= ' ') {
        typed += letter;
        echo(letter);
      }
    }
  };
  input.setRawMode(true);
  input.on('data', onData);
  input.resume();
  return () => {
    input.off('data', onData);
    input.setRawMode?.(false);
    input.pause();
  };
}
