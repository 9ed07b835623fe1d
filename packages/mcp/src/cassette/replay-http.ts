import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseExact } from '@agentci/lib/json';
import { type BodyOutcome, relay, sendJson } from '../http/relay.ts';
import { eventOf } from '../http/sse.ts';
import { errorReply, type Message, messagesIn } from '../message.ts';
import type { TapSink } from '../tap-log.ts';
import type { CassettePlayer } from './player.ts';

/** The stream for unsolicited server messages. Messages before the stream opens are queued. */
export class ReplayStream {
  #response: ServerResponse | undefined;
  #waiting: readonly Message[] = [];

  open(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.flushHeaders();
    this.#response = response;
    response.once('close', () => {
      if (this.#response === response) this.#response = undefined;
    });
    const waiting = this.#waiting;
    this.#waiting = [];
    this.send(waiting);
  }

  /** Queued messages of a finished query are dropped. */
  forget(): void {
    this.#waiting = [];
  }

  send(messages: readonly Message[]): void {
    if (this.#response === undefined) this.#waiting = [...this.#waiting, ...messages];
    else for (const message of messages) this.#response.write(eventOf(message));
  }
}

/** Answers one request over HTTP from a recording. */
export function replayHttp(
  request: IncomingMessage,
  response: ServerResponse,
  {
    player,
    stream,
    clean,
    log,
  }: {
    readonly player: CassettePlayer;
    readonly stream: ReplayStream;
    readonly clean: (value: unknown) => unknown;
    readonly log?: TapSink;
  },
): void {
  const takesEvents = /\btext\/event-stream\b/i.test(request.headers.accept ?? '');
  if (request.method === 'GET' && takesEvents && player.hasNotifications) {
    request.resume();
    stream.open(response);
    return;
  }
  if (request.method !== 'POST') {
    request.resume();
    sendJson(response, 405, errorReply(null, -32600, 'a recording has nothing to stream'));
    return;
  }
  relay(request, response, {
    upstream: NOWHERE,
    middle: {
      holds: true,
      answer: (bytes) => bytes,
      body: (bytes): BodyOutcome => {
        const text = bytes.toString('utf8').trim();
        const messages = messagesIn(text, parseExact);
        if (messages === undefined)
          return {
            replies: [errorReply(null, -32700, 'the message is not JSON')],
            isBatch: false,
            status: 400,
          };
        log?.add('c2s', bytes);
        const given = messages.map((message) => player.reply(message, clean));
        const replies = given.flatMap<Message>(({ answer }) => answer ?? []);
        const before = given.flatMap((reply) => reply.before);
        const after = given.flatMap((reply) => reply.after);
        for (const one of [...before, ...replies, ...after])
          log?.add('s2c', Buffer.from(JSON.stringify(one)));
        const isStream = takesEvents && before.length > 0 && replies.length > 0;
        // Messages of a request are sent with its answer, others on the separate stream.
        const apart = isStream ? after : [...before, ...after];
        if (apart.length > 0) setImmediate(() => stream.send(apart));
        return {
          replies,
          isBatch: text.startsWith('['),
          events: isStream ? [...before, ...replies] : undefined,
        };
      },
    },
  });
}

/** Nothing is forwarded from here. */
const NOWHERE = new URL('http://127.0.0.1:9/');
