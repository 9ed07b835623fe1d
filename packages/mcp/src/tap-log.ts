import { closeSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, openFile } from '@agentci/lib/files';
import { findCredentials, mapTexts, maskMark, SECRETS } from '@agentci/lib/secrets';
import { type Direction, messagesIn } from './message.ts';

/** One line of a tap's file, in the format of the adapter `mcp`. */
export interface TapLine {
  readonly ts: string;
  readonly dir: Direction;
  readonly message?: unknown;
  /** Names of values removed from the message: secrets, and texts that look like credentials. */
  readonly masked?: readonly string[];
  /** On a request of a cassette: omitted server messages by method. */
  readonly left_out?: Readonly<Record<string, number>>;
  /** Replaces a dropped message: its length, and the reason. */
  readonly dropped?: { readonly bytes: number; readonly why: 'too_large' | 'not_json' };
}

/** The traffic between a client and one server. */
export interface TapSession {
  readonly server: string;
  readonly lines: readonly TapLine[];
}

/** Receives the traffic as bytes. */
export interface TapSink {
  readonly add: (dir: Direction, bytes: Buffer) => void;
  readonly drop: (dir: Direction, bytes: number, why: 'too_large' | 'not_json') => void;
}

/**
 * Logs the traffic between a client and a server. Never writes values of secrets. Texts that look
 * like credentials are masked by default.
 */
export class TapLog implements TapSink {
  readonly #write: (line: TapLine) => void;
  readonly #now: () => number;
  readonly #keepsCredentials: boolean;
  messages = 0;
  calls = 0;
  dropped = 0;

  constructor(
    write: (line: TapLine) => void,
    now: () => number,
    { keepsCredentials = false } = {},
  ) {
    this.#write = write;
    this.#now = now;
    this.#keepsCredentials = keepsCredentials;
  }

  /** Receives the bytes of a message or batch. */
  add(dir: Direction, bytes: Buffer): void {
    const text = bytes.toString('utf8').trim();
    if (text === '') return;
    const messages = messagesIn(text);
    if (messages === undefined) this.drop(dir, bytes.length, 'not_json');
    for (const message of messages ?? []) {
      this.messages++;
      if (dir === 'c2s' && message.method === 'tools/call') this.calls++;
      const masked = new Set<string>();
      const known = SECRETS.value(message, (name) => masked.add(name));
      const kept = this.#keepsCredentials
        ? known
        : mapTexts(known, (one) => maskCredentials(one, masked));
      const names = [...masked].sort();
      this.#write({
        ts: this.#time(),
        dir,
        message: kept,
        masked: names.length !== 0 ? names : undefined,
      });
    }
  }

  drop(dir: Direction, bytes: number, why: 'too_large' | 'not_json'): void {
    this.dropped++;
    this.#write({ ts: this.#time(), dir, dropped: { bytes, why } });
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

/**
 * Replaces every credential by a mark and notes its name, because readers must know about the
 * removal.
 */
function maskCredentials(text: string, names: Set<string>): string {
  let masked = '';
  let at = 0;
  for (const { name, start, end } of findCredentials(text)) {
    names.add(name);
    masked += text.slice(at, start) + maskMark(name);
    at = end;
  }
  return at === 0 ? text : masked + text.slice(at);
}

/**
 * Opens a file that is written line by line, so that a kill loses nothing. Existing files are kept.
 */
export function openTapFile(path: string): {
  readonly path: string;
  write: (line: TapLine) => void;
  close: () => void;
} {
  makeFolder(dirname(path));
  let free = path;
  let file: number | undefined;
  for (let n = 2; file === undefined; n++) {
    file = openNew(free);
    if (file === undefined) free = path.replace(/(\.[^./\\]*)?$/, `-${n}$1`);
  }
  const opened = file;
  return {
    path: free,
    write: (line) => {
      writeSync(opened, `${JSON.stringify(line)}\n`);
    },
    close: () => closeSync(opened),
  };
}

function openNew(path: string): number | undefined {
  try {
    return openFile(path, 'ax', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return undefined;
  }
}
