import { isDeepStrictEqual } from 'node:util';
import { parseExact, stringifyExact } from '@agentci/lib/json';
import { UserError } from '@agentci/lib/problems';
import {
  credentialFields,
  findCredentials,
  mapTexts,
  SECRETS,
  type Secret,
  SecretMask,
  withoutCredentials,
  withoutFieldCredentials,
} from '@agentci/lib/secrets';
import { type Direction, messagesIn } from '../message.ts';
import type { TapLine } from '../tap-log.ts';
import { CassettePlayer, entriesOf, isCall, unansweredRequests } from './player.ts';
import { addCounts, type Counts } from './server-messages.ts';

/** Buffers a session until it is known to be replayable. */
export class CassetteRecording {
  readonly #lines: TapLine[] = [];
  readonly #now: () => number;
  readonly #secrets = new Set<string>();
  /** Values from the client in fields named like credentials. */
  readonly #given: Secret[] = [];
  #dropped = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(dir: Direction, bytes: Buffer): void {
    const text = bytes.toString('utf8').trim();
    if (text === '') return;
    const messages = messagesIn(text, parseExact);
    if (messages === undefined) this.missed();
    else if (dir === 'c2s')
      for (const { name, value } of credentialFields(text))
        this.#given.push({ name, value, isUsed: true });
    for (const message of messages ?? []) {
      // Agents must get the original answer, so answers are not masked.
      const bare = dir === 'c2s' ? withoutFieldCredentials(message) : message;
      const known = SECRETS.value(bare, (name) => dir === 's2c' && this.#secrets.add(name));
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

  /**
   * The text of the file, the number of calls, and the parts that a replay omits. Throws like
   * `proved`, and if nothing was answered at all.
   */
  finished(): { readonly text: string; readonly calls: number; readonly leftOut: Counts } {
    const lines = this.proved();
    const entries = entriesOf(lines);
    if (!entries.some(({ answer }) => answer !== undefined))
      throw new UserError(
        'CASSETTE_EMPTY',
        'the session ended before the server answered, so nothing was written',
        {
          hint: 'check that the server starts, and that the client reaches it through this command',
        },
      );
    return {
      text: lines.map((line) => `${stringifyExact(line)}\n`).join(''),
      calls: entries.filter(isCall).length,
      leftOut: addCounts(entries.map(({ leftOut }) => leftOut)),
    };
  }

  /** The lines of the session. Throws if a replay would differ or reveal a secret. */
  proved(): readonly TapLine[] {
    if (this.#dropped > 0)
      throw new UserError(
        'CASSETTE_INCOMPLETE',
        `${this.#dropped} messages were too large or not JSON; nothing was written`,
      );
    const [secret] = this.#secrets;
    if (secret !== undefined) throw secretError(`the server answered with a secret, ${secret}`);
    this.#refuseRepeated();
    const open = unansweredRequests(this.#lines);
    if (open > 0)
      throw new UserError(
        'CASSETTE_INCOMPLETE',
        `${open === 1 ? '1 request got' : `${open} requests got`} no answer, so a replay would have none either and nothing was written`,
        { hint: 'record it again, and let the client wait for its answers before it ends' },
      );
    proveReplay(this.#lines);
    return this.#lines;
  }

  /** A credential of the client must not occur in any answer or other request. */
  #refuseRepeated(): void {
    if (this.#given.length === 0) return;
    const given = new SecretMask();
    given.add(this.#given);
    for (const { dir, message } of this.#lines)
      mapTexts(message, (text) => {
        const [found] = given.findInDocument(text);
        if (found === undefined) return text;
        // The credential is in the agent's answer and trace too, so it is masked from now on.
        SECRETS.add(this.#given);
        throw secretError(
          dir === 's2c'
            ? `the server answered with a secret, ${found.name}`
            : `a request repeats a secret, ${found.name}, which another request has in a field of that name`,
        );
      });
  }
}

const secretError = (what: string): UserError =>
  new UserError('CASSETTE_SECRET', `${what}; nothing was written`, {
    hint: 'record with another value, or without a tool that shows it',
  });

/** A replay must return the recorded answers, request by request. */
function proveReplay(lines: readonly TapLine[]): void {
  const player = new CassettePlayer(lines);
  for (const [at, { method, params, answer, before, after }] of entriesOf(lines).entries()) {
    const id = at + 1;
    const given = player.reply({ jsonrpc: '2.0', id, method, params });
    if (
      !isDeepStrictEqual(given, {
        before,
        answer: answer === undefined ? undefined : { ...answer, id },
        after,
      })
    )
      throw new Error(
        `the recording does not give its own answer to ${method}; nothing was written`,
      );
  }
}
