import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Plane } from './plane.ts';
import { refuse } from './refuse.ts';
import { readUpgrade } from './upgrade-request.ts';

/** A listener for one worker. All its traffic belongs to the agent that got its address. */
export interface Front {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** `http://127.0.0.1:PORT/r/TOKEN`. */
  readonly base: string;
  readonly token: string;
  /** Sets the planes that answer from now on. */
  readonly serve: (planes: readonly Plane[]) => void;
  /** Number of requests with a wrong token, host or origin. */
  readonly strangers: () => number;
  readonly close: () => Promise<void>;
}

/** SDKs pool connections. If the server closes one first, the next call on it fails. */
const KEEP_ALIVE_MS = 120_000;
const MAX_HEADER_BYTES = 64 * 1024;
/** The part of `PRI * HTTP/2.0` that differs from every HTTP/1 method. */
const PREFACE = Buffer.from('PRI');

type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse | Http2ServerResponse;

/** A front at a fixed address. Its single plane gets all requests, with or without a token. */
export interface SharedFront {
  readonly port: number;
}

/**
 * Listens on 127.0.0.1 for HTTP/1.1 and cleartext HTTP/2, on a free port unless it is shared.
 * Accepts only requests for this address, from programs and not web pages, and with the token in
 * their path.
 */
export async function openFront(shared?: SharedFront): Promise<Front> {
  const front = new LoopbackFront(shared);
  await front.listen();
  return front;
}

class LoopbackFront implements Front {
  readonly token = randomBytes(16).toString('hex');
  origin = '';
  base = '';
  readonly #shared: SharedFront | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #http: ReturnType<typeof createHttp>;
  readonly #http2: ReturnType<typeof createHttp2>;
  readonly #server: ReturnType<typeof createServer>;
  #planes: readonly Plane[] = [];
  #hosts: readonly string[] = [];
  #strangers = 0;

  constructor(shared: SharedFront | undefined) {
    this.#shared = shared;
    // Without a listener for `upgrade`, a request that offers HTTP/2 is read normally, with its
    // body.
    this.#http = createHttp({
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    this.#http.on('request', this.#onRequest);
    this.#http.on('connect', this.#onConnect);
    this.#http2 = createHttp2();
    this.#http2.on('request', this.#onRequest);
    this.#http2.on('sessionError', () => {});
    this.#http2.on('session', (session) => session.on('error', () => {}));
    // Like Node's HTTP server: a client that has sent everything can still be answered.
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      this.#serve(socket);
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#shared?.port ?? 0, '127.0.0.1', resolve);
    });
    const { port } = this.#server.address() as AddressInfo;
    const host = `127.0.0.1:${port}`;
    // Most people write the name, and no web page can hijack it.
    this.#hosts = this.#shared === undefined ? [host] : [host, `localhost:${port}`];
    this.origin = `http://${host}`;
    this.base = `http://${host}/r/${this.token}`;
  }

  serve = (planes: readonly Plane[]): void => {
    this.#planes = planes;
  };

  strangers = (): number => this.#strangers;

  close = (): Promise<void> =>
    new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
      this.#http.close();
      this.#http2.close();
    });

  readonly #turnAway = (response: Outgoing, status: number, message: string): void => {
    this.#strangers++;
    refuse(response, status, message);
  };

  /**
   * A request to another server. A model call goes to the plane that claims it, any other to the
   * proxy.
   */
  readonly #onProxied = (request: Incoming, response: Outgoing): void => {
    const plane = this.#planes.find(({ proxy }) => proxy !== undefined);
    if (
      plane === undefined ||
      !isSame(passwordOf(request.headers['proxy-authorization']), this.token)
    ) {
      this.#strangers++;
      refuse(response, 407, 'not a client of this capture', {
        'proxy-authenticate': 'Basic realm="agentci"',
      });
      return;
    }
    // Meant only for the front. If it were registered as a key, each agent would add another one to
    // search for.
    delete request.headers['proxy-authorization'];
    request.url = withBrackets(request.url ?? '');
    if (!URL.canParse(request.url)) {
      refuse(response, 400, 'the address cannot be read');
      return;
    }
    const url = new URL(request.url ?? '');
    for (const known of this.#planes) {
      const path = known.claim?.(request.method ?? 'GET', url);
      if (path === undefined) continue;
      known.handle({ path, request, response });
      return;
    }
    plane.proxy!({ request, response });
  };

  readonly #onRequest = (request: Incoming, response: Outgoing): void => {
    request.on('error', () => {});
    response.on('error', () => {});
    const [, authority, own] = FULL.exec(request.url ?? '') ?? [];
    if (authority !== undefined && !this.#hosts.includes(authority)) {
      this.#onProxied(request, response);
      return;
    }
    // Clients that reach this machine through the proxy too. Treated as a direct request.
    if (authority !== undefined) {
      request.url = own || '/';
      delete request.headers['proxy-authorization'];
    }
    // With DNS rebinding a page reaches 127.0.0.1, but it still sends its own host name.
    const asked =
      'authority' in request && request.authority ? request.authority : request.headers.host;
    if (!this.#hosts.includes(asked ?? '')) {
      this.#turnAway(response, 403, 'the Host header is not that of the capture');
      return;
    }
    if (!isOfProgram(request.headers)) {
      this.#turnAway(response, 403, 'requests of web pages are not taken');
      return;
    }
    if (
      request.httpVersionMajor === 2 &&
      /^application\/grpc\b/.test(request.headers['content-type'] ?? '')
    ) {
      const plane = this.#planes.find(({ grpc }) => grpc !== undefined);
      if (plane === undefined) refuse(response, 404, 'no plane of this capture takes gRPC');
      else plane.grpc!({ request, response });
      return;
    }
    if (this.#shared !== undefined) {
      this.#planes[0]!.handle({ path: request.url ?? '', request, response });
      return;
    }
    const [, given = '', name, path = ''] = PLACE.exec(request.url ?? '') ?? [];
    if (!isSame(given, this.token)) {
      this.#turnAway(response, 404, 'the path does not hold the token of this capture');
      return;
    }
    const plane = this.#planes.find((known) => known.name === name);
    if (plane === undefined) refuse(response, 404, `this capture has no plane "${name}"`);
    else plane.handle({ path, request, response });
  };

  readonly #onConnect = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    if (this.#hosts.includes(request.url ?? '')) {
      // A tunnel back to the front, as gRPC opens it. Its content is an ordinary connection with
      // its own token.
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) socket.unshift(head);
      this.#serve(socket as Socket);
      return;
    }
    const plane = this.#planes.find(({ tunnel }) => tunnel !== undefined);
    const isOurs =
      plane !== undefined && isSame(passwordOf(request.headers['proxy-authorization']), this.token);
    if (isOurs) {
      plane.tunnel!(request.url ?? '', socket, head);
      return;
    }
    this.#strangers++;
    socket.end(
      'HTTP/1.1 407 not a client of this capture\r\nproxy-authenticate: Basic realm="agentci"\r\ncontent-length: 0\r\n\r\n',
    );
  };

  /**
   * Clients open a tunnel for a WebSocket. Its first request names the server, and the rest is for
   * that server.
   */
  readonly #upgrade = (bytes: Buffer, socket: Socket): boolean => {
    const asked = readUpgrade(bytes);
    const plane = this.#planes.find((one) => one.upgrade !== undefined);
    if (asked === undefined || plane === undefined || this.#hosts.includes(asked.url.host))
      return false;
    if (!isSame(passwordOf(asked.authorization), this.token)) return false;
    plane.upgrade!(asked.url, asked.head, socket);
    return true;
  };

  readonly #serve = (socket: Socket): void => {
    const end = (): void => void socket.end();
    socket.on('end', end);
    passOn(socket, (isHttp2, bytes) => {
      if (!isHttp2) socket.off('end', end);
      if (!isHttp2 && this.#upgrade(bytes, socket)) return;
      socket.unshift(bytes);
      (isHttp2 ? this.#http2 : this.#http).emit('connection', socket);
    });
  };
}

/** Detects HTTP/2 by the first bytes of a connection, and passes them to `next`. */
function passOn(socket: Socket, next: (isHttp2: boolean, bytes: Buffer) => void): void {
  let seen = Buffer.alloc(0);
  const look = (): void => {
    for (
      let chunk = socket.read() as Buffer | null;
      chunk !== null;
      chunk = socket.read() as Buffer | null
    )
      seen = Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, PREFACE.length);
    const mayBe = seen.subarray(0, length).equals(PREFACE.subarray(0, length));
    if (mayBe && length < PREFACE.length) return;
    socket.removeListener('readable', look);
    next(mayBe, seen);
  };
  socket.on('readable', look);
}

/** A request to a proxy: the server and the path. */
const FULL = /^http:\/\/([^/?#]*)(.*)$/is;

/** Some clients write an IPv6 address without brackets. */
const withBrackets = (url: string): string =>
  url.replace(/^(https?:\/\/)([0-9a-f]*:[0-9a-f:.]*):(\d+)(?=[/?]|$)/i, '$1[$2]:$3');

/** The token, the plane and the path below it. */
const PLACE = /^\/r\/([^/]+)\/([a-z]+)(.*)$/s;

/** Pages send their origin. */
const isOfProgram = (headers: IncomingMessage['headers']): boolean =>
  headers.origin === undefined && !isOfPage(headers['sec-fetch-site']);

/** Browsers also mark requests without an origin, such as images. Node's fetch sends less. */
const isOfPage = (site: string | string[] | undefined): boolean =>
  site === 'cross-site' || site === 'same-site' || site === 'same-origin';

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The password of `Basic base64(user:password)`. */
const passwordOf = (header: string | undefined): string =>
  Buffer.from(/^basic\s+(\S+)/i.exec(header ?? '')?.[1] ?? '', 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '');
