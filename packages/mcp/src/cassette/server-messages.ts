import { isObject } from '@agentci/lib/data';
import { stringifyExact } from '@agentci/lib/json';
import { plural } from '@agentci/lib/text';
import type { Message } from '../message.ts';

/** Number of occurrences by name. */
export type Counts = Readonly<Record<string, number>>;

/** Unsolicited messages of a server around the answer to a request. */
export interface Aside {
  /** Notifications between the request and its answer. */
  readonly before: readonly Message[];
  /** Notifications after the answer, before the next request. */
  readonly after: readonly Message[];
  /**
   * Messages that a replay does not send, by method: requests of the server, and notifications
   * above the limit.
   */
  readonly leftOut: Counts;
}

export const NO_ASIDE: Aside = { before: [], after: [], leftOut: {} };

export const LEFT_OUT = 'MCP_CASSETTE_LEFT_OUT';

/** Limit per request. */
const MAX_NOTIFICATIONS = 1000;
const MAX_CHARACTERS = 1024 * 1024;

const PROGRESS = 'notifications/progress';
/** Pings, which every client answers automatically, and the end of a server's request. */
const OF_NO_ACCOUNT = /^(?:ping|notifications\/cancelled)$/;

/** Collects unsolicited server messages for one request. */
export class Asides implements Aside {
  readonly before: Message[] = [];
  readonly after: Message[] = [];
  readonly #token: string | undefined;
  readonly #leftOut: Map<string, number>;
  #characters = 0;

  constructor(params: unknown, leftOut: Counts = {}) {
    this.#token = tokenText(requestToken(params));
    this.#leftOut = new Map(Object.entries(leftOut));
  }

  get leftOut(): Counts {
    return Object.fromEntries(this.#leftOut);
  }

  /** Whether the message is progress of the request. */
  isProgress({ method, params }: Message): boolean {
    return (
      method === PROGRESS &&
      this.#token !== undefined &&
      tokenText(progressToken(params)) === this.#token
    );
  }

  add(when: 'before' | 'after', message: Message): void {
    const method = String(message.method);
    if (OF_NO_ACCOUNT.test(method)) return;
    this.#characters += stringifyExact(message).length;
    const isOver =
      this.before.length + this.after.length >= MAX_NOTIFICATIONS ||
      this.#characters > MAX_CHARACTERS;
    // Requests of the server need an answer of the client, which may differ in replay.
    if (message.id !== undefined || isOver)
      this.#leftOut.set(method, (this.#leftOut.get(method) ?? 0) + 1);
    else this[when].push(message);
  }
}

/**
 * The notifications for a repeated request. Progress uses the new request's token, and is dropped
 * without one.
 */
export function withToken(
  { before, after, leftOut }: Aside,
  recorded: unknown,
  asked: unknown,
): Aside {
  const from = tokenText(requestToken(recorded));
  const token = requestToken(asked);
  const retold = (message: Message): Message[] => {
    const { method, params } = message;
    if (method !== PROGRESS || from === undefined || tokenText(progressToken(params)) !== from)
      return [message];
    return token === undefined
      ? []
      : [{ ...message, params: { ...(params as object), progressToken: token } }];
  };
  return { before: before.flatMap(retold), after: after.flatMap(retold), leftOut };
}

const requestToken = (params: unknown): unknown =>
  isObject(params) ? progressToken(params._meta) : undefined;
const progressToken = (holder: unknown): unknown =>
  isObject(holder) ? holder.progressToken : undefined;
/** Typed, because 1 and "1" differ. */
const tokenText = (token: unknown): string | undefined =>
  token === undefined ? undefined : stringifyExact(token);

export function addCounts(all: readonly Counts[]): Counts {
  const sums = new Map<string, number>();
  for (const counts of all)
    for (const [name, count] of Object.entries(counts))
      sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}

/** The warning about messages that a replay omits. Undefined if there are none. */
export function leftOutText(counts: Counts, when: 'record' | 'replay'): string | undefined {
  const names = Object.entries(counts).map(([method, count]) => `${count} ${method}`);
  if (names.length === 0) return undefined;
  const sum = Object.values(counts).reduce((total, count) => total + count, 0);
  const what = `${plural(sum, 'message')} that the server sent unasked (${names.join(', ')})`;
  const [is, was] = sum === 1 ? ['is', 'was'] : ['are', 'were'];
  return when === 'record'
    ? `${what} ${is} not sent in a replay, which gives the answers as they are; test what the client does with ${sum === 1 ? 'it' : 'them'} on the server itself`
    : `${what} when this was recorded ${was} not sent, and the answers were given as they are; test what the client does with ${sum === 1 ? 'it' : 'them'} on the server itself`;
}
