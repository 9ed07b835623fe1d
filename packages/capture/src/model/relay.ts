import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { PlaneRequest } from '../plane.ts';
import { refuse } from '../refuse.ts';
import { UsageFilter } from './ask-usage.ts';
import type { OpenExchange } from './exchange-book.ts';
import { headerObject, headersForClient, headersForUpstream, keptHeaders } from './headers.ts';
import type { Connections } from './upstream.ts';

export interface Relay {
  readonly connections: Connections;
  readonly target: URL;
  readonly request: PlaneRequest['request'];
  readonly response: PlaneRequest['response'];
  readonly exchange: OpenExchange;
  /** What goes to the upstream: all of it, or its beginning where the rest is still coming from the client. */
  readonly body: Buffer;
  readonly isWhole: boolean;
  /** The client's headers, or those that were signed anew. */
  readonly headers: readonly string[];
  /** The request asks for usage on our account; `plain` is what the client sent. */
  readonly usage?: { readonly plain: Buffer; readonly onRefused: () => void } | undefined;
}

/** After a client has gone, a reply that has said its last word gets this long to end. */
const LAST_WORDS_MS = 1000;
/** Any other reply gets this long: its end may be on its way already. */
const GRACE_MS = 100;
const TAIL_BYTES = 64 * 1024;
/** What a reply says when all of it has been said. Some clients hang up at once when they read it. */
const LAST_WORDS =
  /\[DONE\]|message_stop|response\.(?:completed|incomplete|failed)|"finish_?[rR]eason"\s*:\s*"|"done"\s*:\s*true|messageStop/;

/** Sends a request on and its reply back, chunk by chunk, and writes both down. */
export function relay(given: Relay): void {
  const { connections, target, request, response, exchange } = given;
  let isClientGone = false;
  let isAborted = false;
  let isPlain = false;
  let asked: ClientRequest;

  const send = (body: Buffer, usage: Relay['usage'], isSecond: boolean): void => {
    const headers = headersForUpstream(given.headers, {
      host: target.host,
      length: given.isWhole ? body.length : undefined,
    });
    asked = connections.request(target, { method: request.method ?? 'GET', headers });
    asked.setNoDelay(true);
    asked.on('error', (error: NodeJS.ErrnoException) => {
      if (exchange.isOver || isClientGone) return;
      // The server closed a pooled connection at the moment it was used again: nothing was lost, nothing was answered.
      if (asked.reusedSocket && error.code === 'ECONNRESET' && given.isWhole && !isSecond) {
        send(body, usage, true);
        return;
      }
      const reason = error.code ?? error.message;
      exchange.end({ complete: false, error: `no reply from ${target.host} (${reason})` });
      refuse(response, 502, `no reply from ${target.host} (${reason})`);
    });
    asked.on('response', (reply) => {
      if (usage !== undefined && (reply.statusCode === 400 || reply.statusCode === 422)) {
        // A server that may not know the wish for usage: what it says to the client's own words counts.
        reply.resume();
        isPlain = true;
        send(usage.plain, undefined, true);
        return;
      }
      if (isPlain && (reply.statusCode ?? 500) < 400) given.usage?.onRefused();
      if (usage !== undefined) exchange.note({ askedUsage: true });
      passBack(reply, usage !== undefined);
    });
    if (given.isWhole) asked.end(body);
    else {
      asked.write(body);
      request.pipe(asked);
    }
  };

  const passBack = (reply: IncomingMessage, hidesUsage: boolean): void => {
    const status = reply.statusCode ?? 502;
    exchange.replied(status, keptHeaders(reply.rawHeaders));
    reply.on('data', (chunk: Buffer) => exchange.chunk(chunk));
    reply.on('end', () =>
      exchange.end({ complete: reply.complete, ...(isAborted ? ABORTED : {}) }),
    );
    const onBroken = (): void => {
      if (exchange.isOver) return;
      exchange.end({ complete: false, ...(isClientGone ? ABORTED : RESET) });
      // The client sees what it would have seen: a connection that breaks off.
      response.destroy();
    };
    reply.on('error', onBroken);
    reply.on('close', onBroken);
    if (isClientGone || response.destroyed) return;
    const type = reply.headers['content-type'] ?? '';
    const filter = hidesUsage && type.includes('event-stream') ? new UsageFilter() : undefined;
    const unpacked = filter === undefined ? reply : unpack(reply);
    const gone = filter === undefined ? NOTHING : CHANGED;
    writeHead(
      response,
      status,
      reply.statusMessage ?? '',
      headersForClient(reply.rawHeaders, gone),
    );
    // A stream's headers go out at once; those of a document go with it.
    if (reply.headers['content-length'] === undefined) (response as ServerResponse).flushHeaders();
    pump(unpacked, response, filter);
  };

  if (response.destroyed) {
    exchange.end({ complete: false, ...ABORTED });
    return;
  }
  response.on('close', () => {
    if (response.writableFinished || exchange.isOver) return;
    isClientGone = true;
    const isSaid = LAST_WORDS.test(exchange.tail(TAIL_BYTES));
    isAborted = !isSaid;
    const timer = setTimeout(
      () => {
        if (exchange.isOver) return;
        exchange.end(isSaid ? { complete: true } : { complete: false, ...ABORTED });
        asked.destroy();
      },
      isSaid ? LAST_WORDS_MS : GRACE_MS,
    );
    timer.unref();
  });
  send(given.body, given.usage, false);
}

const ABORTED = { why: 'client_abort' } as const;
const RESET = { why: 'upstream_reset' } as const;
const NOTHING: ReadonlySet<string> = new Set();
/** No longer true of a stream that something was taken out of. */
const CHANGED: ReadonlySet<string> = new Set(['content-length', 'content-encoding']);

const OPENERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A reply that came packed though that was not asked for has to be opened before anything can be taken out. */
function unpack(reply: IncomingMessage): IncomingMessage | Transform {
  const encoding = reply.headers['content-encoding'] ?? 'identity';
  if (!Object.hasOwn(OPENERS, encoding)) return reply;
  const opener = OPENERS[encoding as keyof typeof OPENERS]();
  reply.on('error', () => opener.destroy());
  return reply.pipe(opener);
}

/** Passes chunks on as they come, and waits for a client that reads slowly. */
function pump(
  source: IncomingMessage | Transform,
  response: PlaneRequest['response'],
  filter: UsageFilter | undefined,
): void {
  const write = (chunk: Buffer | undefined): void => {
    if (chunk === undefined || response.destroyed || response.writableEnded) return;
    if (!(response as ServerResponse).write(chunk)) {
      source.pause();
      const onward = (): void => {
        response.off('drain', onward);
        response.off('close', onward);
        source.resume();
      };
      response.on('drain', onward);
      response.on('close', onward);
    }
  };
  source.on('data', (chunk: Buffer) => write(filter === undefined ? chunk : filter.push(chunk)));
  source.on('error', () => response.destroy());
  source.on('end', () => {
    write(filter?.end());
    response.end();
  });
}

/** A reply's first line and headers, for either version of HTTP. */
export function writeHead(
  response: PlaneRequest['response'],
  status: number,
  message: string,
  headers: readonly string[],
): void {
  if (response.headersSent || response.destroyed) return;
  if ('stream' in response) response.writeHead(status, headerObject(headers));
  else {
    response.sendDate = false;
    response.writeHead(status, message, headers as string[]);
  }
}
