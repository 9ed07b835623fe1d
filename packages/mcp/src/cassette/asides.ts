import { isObject } from '@agentci/lib/data';
import { stringifyExact } from '@agentci/lib/json';
import { plural } from '@agentci/lib/text';
import type { Message } from '../message.ts';

/** How often something was, by its name. */
export type Counts = Readonly<Record<string, number>>;

/** What a server sent of its own beside the answer to one request. */
export interface Aside {
  /** Notifications between the request and its answer. */
  readonly before: readonly Message[];
  /** Those after the answer, while nothing else was asked. */
  readonly after: readonly Message[];
  /** What a replay does not send, by method: requests of the server, and notifications past the limit. */
  readonly leftOut: Counts;
}

export const NO_ASIDE: Aside = { before: [], after: [], leftOut: {} };

export const LEFT_OUT = 'MCP_CASSETTE_LEFT_OUT';

/** For each request. */
const MAX_NOTIFICATIONS = 1000;
const MAX_CHARACTERS = 1024 * 1024;

const PROGRESS = 'notifications/progress';
/** A server's question whether the client is there, which every client answers by itself, and the end of a request of the server's own. */
const OF_NO_ACCOUNT = /^(?:ping|notifications\/cancelled)$/;

/** Collects what a server sends of its own with one request. */
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

  /** Whether this is the progress of the request. */
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
    // The server's requests want an answer of the client, which may be another one in replay.
    if (message.id !== undefined || isOver)
      this.#leftOut.set(method, (this.#leftOut.get(method) ?? 0) + 1);
    else this[when].push(message);
  }
}

/** The notifications for a request that is asked again: its progress goes by the token of that one, and not at all without. */
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
/** Typed: 1 and "1" are two. */
const tokenText = (token: unknown): string | undefined =>
  token === undefined ? undefined : stringifyExact(token);

export function addCounts(all: readonly Counts[]): Counts {
  const sums = new Map<string, number>();
  for (const counts of all)
    for (const [name, count] of Object.entries(counts))
      sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}

/** What is said of messages that a replay leaves out; undefined where there are none. */
export function leftOutText(counts: Counts, when: 'record' | 'replay'): string | undefined {
  const names = Object.entries(counts).map(([method, count]) => `${count} ${method}`);
  if (names.length === 0) return undefined;
  const sum = Object.values(counts).reduce((total, count) => total + count, 0);
  const what = `${plural(sum, 'message')} that the server sent of its own (${names.join(', ')})`;
  const [is, was] = sum === 1 ? ['is', 'was'] : ['are', 'were'];
  return when === 'record'
    ? `${what} ${is} not sent in a replay, which gives the answers as they are; test what the client does with ${sum === 1 ? 'it' : 'them'} on the server itself`
    : `${what} when this was recorded ${was} not sent, and the answers were given as they are; test what the client does with ${sum === 1 ? 'it' : 'them'} on the server itself`;
}
