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
  /**
   * The body for the upstream: all of it, or its beginning if the rest is still coming from the
   * client.
   */
  readonly body: Buffer;
  readonly isWhole: boolean;
  /** The client's headers, or signed ones. */
  readonly headers: readonly string[];
  /** The capture added the request for usage. `plain` is the body of the client. */
  readonly usage?: { readonly plain: Buffer; readonly onRefused: () => void } | undefined;
}

/** Time for a complete reply to end after its client has gone. */
const LAST_WORDS_MS = 1000;
/** Time for any other reply, whose end may be on its way. */
const GRACE_MS = 100;
const TAIL_BYTES = 64 * 1024;
/** End marks of replies. Some clients hang up as soon as they read one. */
const LAST_WORDS =
  /\[DONE\]|message_stop|response\.(?:completed|incomplete|failed)|"finish_?[rR]eason"\s*:\s*"|"done"\s*:\s*true|messageStop/;

/** Relays a request and its reply, chunk by chunk, and records both. */
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
      // The server closed a pooled connection at the moment it was reused: nothing was lost,
      // nothing was answered.
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
        // The server may not support the usage option, so its response to the client's own body
        // counts.
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
      // The client sees the same as without the capture: an aborted connection.
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
    // The headers of a stream are sent at once, those of a document with its body.
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
/** Headers that are wrong after data was removed from a stream. */
const CHANGED: ReadonlySet<string> = new Set(['content-length', 'content-encoding']);

const OPENERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A reply compressed despite the request must be decompressed before data can be removed. */
function unpack(reply: IncomingMessage): IncomingMessage | Transform {
  const encoding = reply.headers['content-encoding'] ?? 'identity';
  if (!Object.hasOwn(OPENERS, encoding)) return reply;
  const opener = OPENERS[encoding as keyof typeof OPENERS]();
  reply.on('error', () => opener.destroy());
  return reply.pipe(opener);
}

/** Passes chunks on as they arrive, with backpressure from the client. */
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

/** A reply's status line and headers, for either version of HTTP. */
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
