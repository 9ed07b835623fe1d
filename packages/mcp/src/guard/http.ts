import type { IncomingMessage } from 'node:http';
import { isObject, sha256Hex } from '@agentci/lib/data';
import type { HttpMiddle } from '../http/relay.ts';
import { errorReply, isModern, type Message, messagesIn, requestVersion } from '../message.ts';
import type { Guard } from './guard.ts';
import type { Flaw } from './read-request.ts';
import type { RefusalReason } from './refusal.ts';
import type { Session } from './session.ts';

const MAX_SESSIONS = 10_000;
const MISMATCH = -32020;

type Counts = Pick<Session, 'calls' | 'refused' | 'withheld'>;

/** The histories of the clients of an HTTP guard. */
export class GuardSessions {
  readonly #guard: Guard;
  readonly #scope: 'client' | 'process';
  readonly #byKey = new Map<string, Session>();
  /** Session ids issued by the server. An invented id gets no separate history. */
  readonly #known = new Set<string>();

  /** Totals of finished histories. */
  #counts: Counts = { calls: 0, refused: 0, withheld: 0 };

  constructor(guard: Guard, scope: 'client' | 'process') {
    this.#guard = guard;
    this.#scope = scope;
  }

  /** The history of a request. Undefined if there are too many. */
  of(request: IncomingMessage): Session | undefined {
    const key = this.#keyOf(request);
    const known = this.#byKey.get(key);
    if (known !== undefined || this.#byKey.size >= MAX_SESSIONS) return known;
    const session = this.#guard.open(key);
    this.#byKey.set(key, session);
    return session;
  }

  #keyOf({ headers }: IncomingMessage): string {
    if (this.#scope === 'process') return '1';
    const id = headers['mcp-session-id'];
    if (typeof id === 'string' && this.#known.has(id))
      return `session-${sha256Hex(id).slice(0, 16)}`;
    return `client-${sha256Hex(headers.authorization ?? '').slice(0, 16)}`;
  }

  /** The server issued this session id. */
  learn(id: string): void {
    if (this.#known.size < MAX_SESSIONS) this.#known.add(id);
  }

  /** The client ended its session. */
  forget(request: IncomingMessage): void {
    const key = this.#keyOf(request);
    const session = this.#byKey.get(key);
    if (session === undefined || !key.startsWith('session-')) return;
    this.#guard.close(session);
    this.#count(session);
    this.#byKey.delete(key);
    this.#known.delete(String(request.headers['mcp-session-id']));
  }

  #count({ calls, refused, withheld }: Session): void {
    const { calls: c, refused: r, withheld: w } = this.#counts;
    this.#counts = { calls: c + calls, refused: r + refused, withheld: w + withheld };
  }

  /** Ends all histories. */
  close(): Counts & { readonly left: readonly RefusalReason[] } {
    const sessions = [...this.#byKey.values()];
    const left = sessions.flatMap((session) => this.#guard.close(session));
    for (const session of sessions) this.#count(session);
    return { ...this.#counts, left };
  }
}

/** Guards one HTTP request. */
export function guardHttp(
  guard: Guard,
  sessions: GuardSessions,
  request: IncomingMessage,
): HttpMiddle | undefined {
  const session = sessions.of(request);
  if (session === undefined) return undefined;
  const version = request.headers['mcp-protocol-version'];
  if (typeof version === 'string' && session.version === undefined) session.version = version;
  /** The forwarded requests. */
  let sent: readonly Message[] = [];
  return {
    holds: true,
    body: (bytes) => {
      const messages = messagesIn(bytes.toString('utf8')) ?? [];
      const isBatch = bytes.toString('utf8').trimStart().startsWith('[');
      const flaw = headerFlaw(request.headers, messages, isBatch);
      if (flaw !== undefined && guard.refuse(session, flaw, nameOf(messages[0])))
        return {
          replies: [errorReply(messages[0]?.id, flaw.code, flaw.reason)],
          isBatch: false,
          status: 400,
        };
      const { forward, replies } = guard.fromClient(bytes, session);
      sent = forward === undefined ? [] : (messagesIn(forward.toString('utf8')) ?? []);
      const isBroken =
        forward === undefined &&
        replies.every(({ error }) => isObject(error) && error.code !== -32000);
      return { forward, replies, isBatch, status: isBroken ? 400 : undefined };
    },
    answer: (bytes) => guard.fromServer(bytes, session),
    failure: (bytes, status) => guard.failed(bytes, { sent, status, session }),
    head: (status, headers) => {
      const id = headers['mcp-session-id'];
      if (typeof id === 'string' && status < 300) sessions.learn(id);
      if (request.method === 'DELETE' && status < 300) sessions.forget(request);
    },
  };
}

const nameOf = (message: Message | undefined): string | null =>
  isObject(message?.params) && typeof message.params.name === 'string' ? message.params.name : null;

/** The parameter repeated in the header `Mcp-Name`. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Since 2026-07-28, headers repeat parts of the body for routing. Both must match. */
export function headerFlaw(
  headers: IncomingMessage['headers'],
  messages: readonly Message[],
  isBatch: boolean,
): Flaw | undefined {
  const [message = {}] = messages;
  const stated = requestVersion(message);
  const version = single(headers['mcp-protocol-version']);
  if (!isModern(version) && !isModern(stated)) return undefined;
  const flaw = (reason: string): Flaw => ({
    rule: 'guard.header_mismatch',
    code: MISMATCH,
    reason,
  });
  if (isBatch) return flaw('this protocol version has no batches');
  if (stated !== undefined && stated !== version)
    return flaw(`MCP-Protocol-Version is ${shown(version)} and the body says ${shown(stated)}`);
  const { method, params } = message;
  // An answer to a server's request has no method.
  if (typeof method !== 'string') return undefined;
  const header = single(headers['mcp-method']);
  if (header === undefined ? message.id !== undefined : header !== method)
    return flaw(`Mcp-Method is ${shown(header)} and the method is ${shown(method)}`);
  const named = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  const name = decoded(single(headers['mcp-name']));
  if (named === undefined)
    return name === undefined ? undefined : flaw(`Mcp-Name is ${shown(name)} for ${method}`);
  const value = isObject(params) ? params[named] : undefined;
  return name === value
    ? undefined
    : flaw(`Mcp-Name is ${shown(name)} and the body says ${shown(value)}`);
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

const shown = (value: unknown): string =>
  value === undefined ? 'missing' : JSON.stringify(value).slice(0, 120);

/**
 * Names that a header cannot contain are base64. Malformed values stay unchanged and match nothing.
 */
function decoded(value: string | undefined): string | undefined {
  const match = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value ?? '');
  return match === null ? value : Buffer.from(match[1]!, 'base64').toString('utf8');
}
