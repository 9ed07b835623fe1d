import { parseExact } from '../../kit/exact-json.ts';
import type { CassettePlayer } from '../../mcp/cassette/player.ts';
import { type BodyOutcome, relay, sendJson } from '../../mcp/http/relay.ts';
import { serveMcp } from '../../mcp/http/serve.ts';
import { errorReply, type Message, messagesIn } from '../../mcp/message.ts';
import type { Io } from '../io.ts';
import { untilStopped } from './until-stopped.ts';

/** Answers clients over HTTP from a recording until it is told to stop. */
export async function serveReplay(
  player: CassettePlayer,
  clean: (value: unknown) => unknown,
  { listen, io, say }: { readonly listen: string; readonly io: Io; readonly say: (text: string) => void },
): Promise<void> {
  const served = await serveMcp(listen, (request, response) => {
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
          const replies = messages.flatMap<Message>((message) => player.answer(message, clean) ?? []);
          return { replies, isBatch: text.startsWith('[') };
        },
      },
    });
  });
  say(`serving ${served.url}`);
  await untilStopped(io.signal);
  await served.close();
}

/** Nothing is passed on from here. */
const NOWHERE = new URL('http://127.0.0.1:9/');
