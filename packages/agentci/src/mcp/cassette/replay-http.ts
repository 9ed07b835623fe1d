import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseExact } from '../../kit/exact-json.ts';
import { type BodyOutcome, relay, sendJson } from '../http/relay.ts';
import { errorReply, type Message, messagesIn } from '../message.ts';
import type { TapSink } from '../tap-log.ts';
import type { CassettePlayer } from './player.ts';

/** Answers one request over HTTP from a recording. */
export function replayHttp(
  request: IncomingMessage,
  response: ServerResponse,
  {
    player,
    clean,
    log,
  }: { readonly player: CassettePlayer; readonly clean: (value: unknown) => unknown; readonly log?: TapSink },
): void {
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
          return { replies: [errorReply(null, -32700, 'the message is not JSON')], isBatch: false, status: 400 };
        log?.add('c2s', bytes);
        const replies = messages.flatMap<Message>((message) => player.answer(message, clean) ?? []);
        for (const reply of replies) log?.add('s2c', Buffer.from(JSON.stringify(reply)));
        return { replies, isBatch: text.startsWith('[') };
      },
    },
  });
}

/** Nothing is passed on from here. */
const NOWHERE = new URL('http://127.0.0.1:9/');
