import { isDeepStrictEqual } from 'node:util';
import { findCredentials, mapTexts, withoutCredentials } from '../../kit/credentials.ts';
import { parseExact, stringifyExact } from '../../kit/exact-json.ts';
import { SECRETS } from '../../kit/secrets.ts';
import { UserError } from '../../kit/user-error.ts';
import { type Direction, messagesIn } from '../message.ts';
import type { TapLine } from '../tap-log.ts';
import { CassettePlayer, entriesOf, unansweredCalls } from './player.ts';

/** Keeps a session in memory until it is known to be one that can be given again. */
export class CassetteRecording {
  readonly #lines: TapLine[] = [];
  readonly #now: () => number;
  readonly #secrets = new Set<string>();
  #dropped = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(dir: Direction, bytes: Buffer): void {
    const text = bytes.toString('utf8').trim();
    if (text === '') return;
    const messages = messagesIn(text, parseExact);
    if (messages === undefined) this.missed();
    for (const message of messages ?? []) {
      // What an agent is given must be what it was given: a mark in its place would be another answer.
      const known = SECRETS.value(message, (name) => dir === 's2c' && this.#secrets.add(name));
      const kept = mapTexts(known, (one) => {
        const found = dir === 's2c' ? findCredentials(one)[0] : undefined;
        if (found !== undefined) this.#secrets.add(`what looks like a credential (${found.name})`);
        return withoutCredentials(one);
      });
      this.#lines.push({ ts: new Date(this.#now()).toISOString(), dir, message: kept });
    }
  }

  missed(): void {
    this.#dropped++;
  }

  /** The text of the file. Throws as `proved` does. */
  text(): string {
    return this.proved()
      .map((line) => `${stringifyExact(line)}\n`)
      .join('');
  }

  /** The lines of the session. Throws where replaying them would give something else, or a secret. */
  proved(): readonly TapLine[] {
    if (this.#dropped > 0)
      throw new UserError(
        'MCP_CASSETTE_INCOMPLETE',
        `${this.#dropped} messages were too large or not JSON; nothing was written`,
      );
    const [secret] = this.#secrets;
    if (secret !== undefined)
      throw new UserError('MCP_CASSETTE_SECRET', `the server answered with a secret, ${secret}; nothing was written`, {
        hint: 'record with another value, or without a tool that shows it',
      });
    const open = unansweredCalls(this.#lines);
    if (open > 0)
      throw new UserError(
        'MCP_CASSETTE_INCOMPLETE',
        `${open === 1 ? '1 call got' : `${open} calls got`} no answer; nothing was written`,
      );
    proveReplay(this.#lines);
    return this.#lines;
  }
}

/** What was recorded must be what is given, request by request. */
function proveReplay(lines: readonly TapLine[]): void {
  const player = new CassettePlayer(lines);
  for (const { method, params, answer } of entriesOf(lines)) {
    const given = player.answer({ jsonrpc: '2.0', id: answer.id, method, params });
    if (!isDeepStrictEqual(given, answer))
      throw new Error(`the recording does not give its own answer to ${method}; nothing was written`);
  }
}
