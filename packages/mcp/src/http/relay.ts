import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { stringifyExact } from '@agentci/lib/json';
import { MAX_MESSAGE_BYTES } from '../lines.ts';
import { errorReply, type Message, messageText } from '../message.ts';
import { EventSplitter, eventOf, readEvent, withData } from './sse.ts';

/** Handles one request of a client and its answer. */
export interface HttpMiddle {
  /**
   * Processes the body of a POST before it is forwarded. Without `forward`, the request ends here.
   */
  readonly body: (bytes: Buffer) => BodyOutcome;
  /** Processes a message of the answer. Returns the bytes for the client. */
  readonly answer: (bytes: Buffer) => Buffer;
  /** Processes the body of an answer with an error status. Default: `answer`. */
  readonly failure?: (bytes: Buffer, status: number) => Buffer;
  /** Holds an answer until it is complete, to inspect it. */
  readonly holds: boolean;
  /** Called with the head of the answer. */
  readonly head?: (status: number, headers: IncomingHttpHeaders) => void;
  readonly missed?: (bytes: number) => void;
}

export interface BodyOutcome {
  readonly forward?: Buffer | undefined;
  readonly replies: readonly Message[];
  readonly isBatch: boolean;
  /** Status of a local answer. */
  readonly status?: number;
  /** Used instead of `replies` if the local answer is an event stream. */
  readonly events?: readonly Message[];
}

/** Headers of a single connection, which we set. Others are forwarded unchanged. */
const NOT_PASSED = new Set([
  ...[
    'host',
    'connection',
    'keep-alive',
    'proxy-connection',
    'transfer-encoding',
    'te',
    'trailer',
    'upgrade',
  ],
  ...['content-length', 'accept-encoding', 'expect', 'origin', 'x-http-method-override'],
]);
const METHODS = new Set(['POST', 'GET', 'DELETE']);

/** Forwards a request to a server and its answer back. */
export function relay(
  request: IncomingMessage,
  response: ServerResponse,
  {
    upstream,
    middle,
    maxBytes = MAX_MESSAGE_BYTES,
  }: { upstream: URL; middle: HttpMiddle; maxBytes?: number },
): void {
  if (!METHODS.has(request.method ?? '')) {
    response.writeHead(405, { allow: [...METHODS].join(', ') }).end();
    return;
  }
  const encoding = request.headers['content-encoding'];
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (
    (encoding !== undefined && encoding !== 'identity') ||
    (charset !== undefined && !/^utf-?8$/i.test(charset))
  ) {
    sendJson(response, 415, errorReply(null, -32600, 'only plain UTF-8 bodies can be read here'));
    request.resume();
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('error', () => response.destroy());
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else if (size - chunk.length <= maxBytes) {
      chunks.length = 0;
      sendJson(
        response,
        413,
        errorReply(null, -32600, `a request may have at most ${maxBytes} bytes`),
      );
    }
  });
  request.on('end', () => {
    if (size > maxBytes) return;
    const body = Buffer.concat(chunks);
    const outcome = request.method === 'POST' ? middle.body(body) : { ...NONE, forward: body };
    if (outcome.forward === undefined) {
      sendReplies(response, outcome);
      return;
    }
    forward(request, response, { upstream, middle, maxBytes, body: outcome.forward, outcome });
  });
}

const NONE: BodyOutcome = { replies: [], isBatch: false };

interface Forwarding {
  readonly upstream: URL;
  readonly middle: HttpMiddle;
  readonly maxBytes: number;
  readonly body: Buffer;
  readonly outcome: BodyOutcome;
}

function forward(request: IncomingMessage, response: ServerResponse, options: Forwarding): void {
  const { upstream, body, outcome } = options;
  const headers: Record<string, string | string[] | number> = {};
  for (const [name, value] of Object.entries(request.headers))
    if (!NOT_PASSED.has(name) && value !== undefined) headers[name] = value;
  headers['accept-encoding'] = 'identity';
  if (request.method === 'POST') headers['content-length'] = body.length;
  const send = upstream.protocol === 'https:' ? httpsRequest : httpRequest;
  const passed = send(upstream, { method: request.method ?? 'POST', headers });
  passed.on('error', (error) => {
    if (response.headersSent) response.destroy();
    else
      sendJson(
        response,
        502,
        errorReply(null, -32603, `the server cannot be reached: ${error.message}`),
      );
  });
  // If the client disconnects, the answer is not needed.
  response.on('close', () => passed.destroy());
  passed.on('response', (answer) => passBack(answer, response, options, outcome));
  passed.end(request.method === 'POST' ? body : undefined);
}

function passBack(
  received: IncomingMessage,
  response: ServerResponse,
  options: Forwarding,
  { replies }: BodyOutcome,
): void {
  const { middle } = options;
  const status = received.statusCode ?? 502;
  let isFailed = false;
  const fail = (message: string): void => {
    isFailed = true;
    if (response.headersSent) response.destroy();
    else sendJson(response, 502, errorReply(null, -32603, message));
    received.destroy();
  };
  for (const event of ['error', 'aborted'])
    received.on(event, () => {
      if (!isFailed) response.destroy();
    });
  // A client that followed a redirect would bypass us.
  if (status >= 300 && status < 400 && status !== 304) {
    fail(`the server answered with a redirect (${status})`);
    return;
  }
  middle.head?.(status, received.headers);
  const type = received.headers['content-type'] ?? '';
  const headers = passedHeaders(received.headers);
  const head = (extra = {}): void => void response.writeHead(status, { ...headers, ...extra });
  // Answers to inspect are decompressed, others are forwarded compressed.
  const answer = middle.holds ? unpacked(received) : received;
  if (answer === undefined) {
    fail('the answer is packed in a way that cannot be read');
    return;
  }
  if (middle.holds) delete headers['content-encoding'];
  if (answer !== received) answer.on('error', () => fail('the answer cannot be unpacked'));
  if (/^text\/event-stream\b/i.test(type)) {
    head();
    // Sends headers before the first event, which may take its time.
    response.flushHeaders();
    for (const reply of replies) response.write(eventOf(reply));
    passEvents(answer, response, options, fail);
    return;
  }
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
  if (!middle.holds && replies.length === 0) {
    const { 'content-length': length } = received.headers;
    head(length === undefined ? {} : { 'content-length': length });
    passPlain(answer, response, { ...options, isJson });
    return;
  }
  holdBody(answer, options.maxBytes, (body) => {
    if (body === undefined) {
      fail('the answer is too large to be looked at');
      return;
    }
    const seen = judgedBody(body, status, middle, replies.length > 0);
    if (seen.length === 0 && body.length > 0) {
      fail('the answer was withheld, since it cannot be judged');
      return;
    }
    const sent = replies.length === 0 ? seen : joined(seen, isJson, replies);
    if (replies.length === 0) head({ 'content-length': sent.length });
    else {
      const type = { 'content-type': 'application/json' };
      response.writeHead(200, { ...headers, ...type, 'content-length': sent.length });
    }
    response.end(sent);
  });
}

function passedHeaders(received: IncomingMessage['headers']): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(received))
    if (!NOT_PASSED.has(name) && value !== undefined) headers[name] = value;
  return headers;
}

/** The body to forward to the client. */
function judgedBody(
  body: Buffer,
  status: number,
  middle: Forwarding['middle'],
  hasReplies: boolean,
): Buffer {
  if (status >= 400 && !hasReplies && middle.failure !== undefined)
    return middle.failure(body, status);
  return body.length === 0 ? body : middle.answer(body);
}

const UNPACKERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * A decompressed body, because some servers compress without being asked. Undefined for an unknown
 * encoding.
 */
function unpacked(answer: IncomingMessage): Readable | undefined {
  const packing = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (packing === 'identity' || packing === '') return answer;
  const unpack = Object.hasOwn(UNPACKERS, packing) ? UNPACKERS[packing] : undefined;
  return unpack === undefined ? undefined : answer.pipe(unpack());
}

/** Forwards bytes first, then logs them. */
function passPlain(
  answer: Readable,
  response: ServerResponse,
  { middle, maxBytes, isJson }: Forwarding & { readonly isJson: boolean },
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  answer.on('data', (chunk: Buffer) => {
    write(response, chunk, answer);
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  });
  answer.on('end', () => {
    response.end();
    if (size > maxBytes) middle.missed?.(size);
    else if (isJson && size > 0) middle.answer(Buffer.concat(chunks));
  });
}

function passEvents(
  answer: Readable,
  response: ServerResponse,
  { middle, maxBytes }: Forwarding,
  fail: (message: string) => void,
): void {
  const splitter = new EventSplitter(maxBytes);
  let isMissed = false;
  const see = (event: Buffer): Buffer => {
    const { data } = readEvent(event);
    if (data === undefined || data === '') return event;
    const bytes = Buffer.from(data);
    const seen = middle.answer(bytes);
    if (seen.length === 0) return seen;
    return seen === bytes || seen.equals(bytes) ? event : withData(event, seen.toString('utf8'));
  };
  answer.on('data', (chunk: Buffer) => {
    if (!middle.holds) write(response, chunk, answer);
    if (isMissed) return;
    const events = splitter.write(chunk);
    if (events === undefined) {
      isMissed = true;
      middle.missed?.(maxBytes);
      if (middle.holds) fail('an event is too large to be looked at');
      return;
    }
    for (const event of events) {
      // The older transport names another POST address, which would bypass us.
      if (middle.holds && readEvent(event).event === 'endpoint')
        return fail('the server speaks the older HTTP+SSE transport');
      const seen = see(event);
      if (middle.holds) write(response, seen, answer);
    }
  });
  answer.on('end', () => {
    // Some parsers accept a final event without a blank line.
    if (middle.holds && !isMissed) response.write(see(splitter.rest()));
    response.end();
  });
}

function write(response: ServerResponse, bytes: Buffer, from: Readable): void {
  if (response.destroyed || bytes.length === 0 || response.write(bytes)) return;
  from.pause();
  response.once('drain', () => from.resume());
}

function holdBody(answer: Readable, max: number, done: (body: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  answer.on('data', (chunk: Buffer) => {
    const wasOver = size > max;
    size += chunk.length;
    if (size <= max) chunks.push(chunk);
    else if (!wasOver) {
      chunks.length = 0;
      done(undefined);
    }
  });
  answer.on('end', () => {
    if (size <= max) done(Buffer.concat(chunks));
  });
}

/** Merges the server's answers to the rest of a batch with ours. */
function joined(body: Buffer, isJson: boolean, replies: readonly Message[]): Buffer {
  const ours = replies.map(messageText).join(',');
  const theirs = isJson ? body.toString('utf8').trim() : '';
  if (theirs === '') return Buffer.from(`[${ours}]`);
  const items = theirs.startsWith('[') ? theirs.slice(1, -1).trim() : theirs;
  return Buffer.from(`[${items === '' ? '' : `${items},`}${ours}]`);
}

function sendReplies(
  response: ServerResponse,
  { replies, isBatch, status, events }: BodyOutcome,
): void {
  if (events !== undefined) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.end(events.map(eventOf).join(''));
  } else if (replies.length === 0) response.writeHead(202).end();
  else {
    const texts = replies.map(messageText);
    sendText(response, status ?? 200, isBatch ? `[${texts.join(',')}]` : texts[0]!);
  }
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, stringifyExact(value));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(text);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
