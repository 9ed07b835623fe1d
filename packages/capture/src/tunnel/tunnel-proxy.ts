import { request as httpRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { headersForClient } from '../model/headers.ts';
import { isLoopback, isModelCall } from '../model/model-call.ts';
import { writeHead } from '../model/relay.ts';
import { routeOf } from '../model/route.ts';
import { bareHost } from '../model/upstream.ts';
import type { CaptureNote, Plane, PlaneContext, PlaneRequest } from '../plane.ts';
import { plainHost } from '../providers.ts';
import { refuse } from '../refuse.ts';
import { tunnelEnvironment } from './environment.ts';
import { credentialsFor, portOf, proxyOf, reach } from './user-proxy.ts';

export interface TunnelProxyOptions {
  /** A host of models. A local one needs a port, because other servers run on this machine too. */
  readonly isModelHost: (host: string, port: number) => boolean;
  /** One of each kind, to find exceptions that would hide them. */
  readonly modelHosts: readonly string[];
  readonly providers: readonly string[];
  /**
   * Set if nothing may pass. Called for every refused host. Local hosts are refused only if they
   * are models.
   */
  readonly refuses?: ((host: string, isModel: boolean) => void) | undefined;
}

/** Further hosts are counted, not named. */
const MAX_HOSTS = 200;
const MAX_NAMED = 10;
/** Clients show this text: Python prints it, curl shows the status. */
const BLOCKED = 'blocked by agentci replay';

/**
 * A proxy that only sees the targets of connections. Connections that bypass the model plane are
 * named, never read. A model among their hosts means that some calls were not captured.
 */
export const openTunnelProxy = (context: PlaneContext, options: TunnelProxyOptions): Plane =>
  new TunnelProxy(context, options);

class TunnelProxy implements Plane {
  readonly name = 'witness';
  readonly #context: PlaneContext;
  readonly #options: TunnelProxyOptions;
  readonly #all = new Set<string>();
  #models = new Set<string>();
  #others = new Set<string>();
  readonly #tunnels = new Map<Duplex, { readonly host: string; readonly isModel: boolean }>();
  readonly #counts = { connections: 0 };

  constructor(context: PlaneContext, options: TunnelProxyOptions) {
    this.#context = context;
    this.#options = options;
  }

  environment = (): ReturnType<Plane['environment']> =>
    tunnelEnvironment({
      origin: this.#context.origin,
      token: this.#context.token,
      env: this.#context.env,
      providers: this.#options.providers,
      modelHosts: this.#options.modelHosts,
      isOffline: this.#options.refuses !== undefined,
    });

  handle = ({ response }: PlaneRequest): void => refuse(response, 404, 'this path is for a proxy');

  tunnel = (target: string, socket: Duplex, head: Buffer): void =>
    void this.#tunnel(target, socket, head);

  upgrade = (url: URL, head: Buffer, socket: Duplex): void => void this.#upgrade(url, head, socket);

  begin = (): void => {
    // An open connection may be reused.
    const still = [...this.#tunnels.values()];
    this.#models = new Set(still.filter(({ isModel }) => isModel).map(({ host }) => host));
    this.#others = new Set(
      still.filter(({ host, isModel }) => !isModel && !isLoopback(host)).map(({ host }) => host),
    );
  };

  end: Plane['end'] = async () => ({
    gaps:
      this.#models.size === 0
        ? []
        : [{ gap: 'tunnelled', detail: [...this.#models].sort().join(', ') }],
    notes: this.#others.size !== 0 ? [otherHosts([...this.#others].sort())] : undefined,
  });

  report = () => ({ ...this.#counts, hosts: [...this.#all].sort() });

  close = async (): Promise<void> => {
    for (const end of this.#tunnels.keys()) end.destroy();
  };

  readonly #note = (host: string, isModel: boolean): void => {
    this.#counts.connections++;
    if (this.#all.size < MAX_HOSTS) this.#all.add(host);
    if (isModel) this.#models.add(host);
    else if (this.#others.size < MAX_HOSTS && !isLoopback(host)) this.#others.add(host);
  };

  readonly #isRefused = (host: string, isModel: boolean): boolean => {
    if (this.#options.refuses === undefined || (isLoopback(host) && !isModel)) return false;
    this.#note(host, false);
    this.#others.delete(host);
    this.#options.refuses(host, isModel);
    return true;
  };

  readonly #tunnel = async (target: string, client: Duplex, head: Buffer): Promise<void> => {
    const place = placeOf(target);
    if (place === undefined) {
      client.end('HTTP/1.1 400 the address is not a host and a port\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const host = plainHost(place.host);
    const isModel = this.#options.isModelHost(host, place.port);
    if (this.#isRefused(host, isModel)) {
      client.end(`HTTP/1.1 403 ${BLOCKED}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    try {
      const { socket, head: first } = await reach(place, this.#context.env);
      this.#open({ client, socket, place, isModel });
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.write(first);
      const watch = this.#watched({ place, client, socket });
      if (head.length > 0) watch(head);
      socket.write(head);
      // Before the bytes are passed on: a rejected connection passes nothing.
      client.on('data', watch);
      join(client, socket, () => this.#closed(client, socket));
    } catch {
      client.end('HTTP/1.1 502 the host could not be reached\r\ncontent-length: 0\r\n\r\n');
    }
  };

  readonly #open = (ends: Ends & { readonly isModel: boolean }): void => {
    const { client, socket, place, isModel } = ends;
    const host = plainHost(place.host);
    this.#note(host, isModel);
    for (const end of [client, socket]) this.#tunnels.set(end, { host, isModel });
  };
  readonly #closed = (...ends: readonly Duplex[]): void => {
    for (const end of ends) this.#tunnels.delete(end);
  };

  /**
   * Inspects plaintext in a tunnel, chunk by chunk. Reports a model call, and blocks it in replay.
   * Encrypted data cannot be inspected, but its target is reported if it is local.
   */
  readonly #watched = ({ place, client, socket }: Ends): ((chunk: Buffer) => void) => {
    const host = plainHost(place.host);
    const shown = `${host.includes(':') ? `[${host}]` : host}:${place.port}`;
    let isEncrypted: boolean | undefined;
    return (chunk) => {
      if (isEncrypted === undefined) {
        isEncrypted = chunk[0] === TLS_HANDSHAKE;
        if (isEncrypted && isLoopback(host) && this.#others.size < MAX_HOSTS)
          this.#others.add(shown);
      }
      if (isEncrypted) return;
      const [, method, path = ''] = REQUEST_LINE.exec(chunk.toString('latin1', 0, MAX_LINE)) ?? [];
      const address = `http://${shown}${path}`;
      if (method === undefined || !URL.canParse(address) || !isModelCall(method, new URL(address)))
        return;
      if (this.#isRefused(host, true)) for (const end of [client, socket]) end.destroy();
      else this.#models.add(host);
    };
  };

  /** A WebSocket: sends its first request in the form without a proxy, and the rest unchanged. */
  readonly #upgrade = async (url: URL, head: Buffer, client: Duplex): Promise<void> => {
    const place = { host: bareHost(url.hostname), port: Number(url.port) || 80 };
    const host = plainHost(place.host);
    const isModel = this.#options.isModelHost(host, place.port);
    if (this.#isRefused(host, isModel)) {
      client.end(`HTTP/1.1 403 ${BLOCKED}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    try {
      const { socket } = await reach(place, this.#context.env);
      this.#open({ client, socket, place, isModel });
      socket.write(head);
      join(client, socket, () => this.#closed(client, socket));
    } catch {
      client.destroy();
    }
  };

  readonly proxy = ({ request, response }: Omit<PlaneRequest, 'path'>): void => {
    const target = new URL(request.url ?? '');
    const method = request.method ?? 'GET';
    const host = bareHost(target.hostname);
    const port = Number(target.port) || 80;
    // A local tool server may have such a path. Requests that look like model calls were claimed
    // before.
    const isModel =
      !isLoopback(host) &&
      (this.#options.isModelHost(plainHost(host), port) ||
        routeOf(method, target.pathname) !== 'other');
    if (this.#isRefused(plainHost(host), isModel)) {
      refuse(response, 403, BLOCKED);
      return;
    }
    const upstream = proxyOf('http', host, this.#context.env);
    const headers = proxiedHeaders(request, target, upstream);
    const hasBody = announcesBody(request);
    const sending = httpRequest({
      host: upstream === undefined ? host : bareHost(upstream.hostname),
      port: upstream === undefined ? port : portOf(upstream),
      path: upstream === undefined ? target.pathname + target.search : target.href,
      method,
      agent: false,
      headers,
    });
    sending.setNoDelay(true);
    sending.on('response', (reply) => {
      this.#note(plainHost(host), isModel);
      writeHead(
        response,
        reply.statusCode ?? 502,
        reply.statusMessage ?? '',
        headersForClient(reply.rawHeaders),
      );
      // The headers of a stream may come long before its first event.
      if (reply.headers['content-length'] === undefined)
        (response as ServerResponse).flushHeaders();
      reply.pipe(response as unknown as NodeJS.WritableStream);
      reply.on('error', () => response.destroy());
      reply.on('aborted', () => response.destroy());
    });
    sending.on('error', () => {
      if (response.headersSent) response.destroy();
      else if (isLoopback(host)) breakOff(request, response);
      else refuse(response, 502, 'the host could not be reached');
    });
    response.on('close', () => sending.destroy());
    if (hasBody) request.pipe(sending);
    else sending.end();
  };
}

const announcesBody = ({ headers }: PlaneRequest['request']): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

function proxiedHeaders(
  request: PlaneRequest['request'],
  target: URL,
  upstream: URL | undefined,
): string[] {
  const hasLength = request.headers['content-length'] !== undefined;
  const hasBody = announcesBody(request);
  // A program may request a site from a local server by another name.
  const named = isLoopback(bareHost(target.hostname)) ? request.headers.host : undefined;
  const headers = ['Host', named ?? target.host, ...headersForClient(request.rawHeaders, RENEWED)];
  if (hasBody && !hasLength) headers.push('Transfer-Encoding', 'chunked');
  // Otherwise Node announces a chunked body.
  if (!hasBody && !/^(?:get|head|options|delete)$/i.test(request.method ?? 'GET'))
    headers.push('Content-Length', '0');
  return [
    ...headers,
    ...Object.entries(upstream === undefined ? {} : credentialsFor(upstream)).flat(),
  ];
}

/** An unknown model host may be among them, which people can recognize. */
const otherHosts = (hosts: readonly string[]): CaptureNote => ({
  code: 'CAPTURE_OTHER_HOSTS',
  message: `the agent also connected to ${hosts.slice(0, MAX_NAMED).join(', ')}${
    hosts.length > MAX_NAMED ? ` and ${hosts.length - MAX_NAMED} more hosts` : ''
  }: if a model answers at one of them, its calls are missing`,
});

interface Ends {
  readonly client: Duplex;
  readonly socket: Duplex;
  readonly place: { readonly host: string; readonly port: number };
}

/** The first byte of an encrypted connection. */
const TLS_HANDSHAKE = 0x16;
const MAX_LINE = 4096;
const REQUEST_LINE = /^([A-Z]+) (\/[!-~]*) HTTP\/1\.[01]\r\n/;
/** Set again. `expect` was already answered here. */
const RENEWED: ReadonlySet<string> = new Set(['host', 'expect']);

/**
 * Breaks the connection if the server is down. Without a proxy the connection is refused, which is
 * how programs wait for a server to start, and any response would look like a running server. A
 * broken connection comes closest. Only urllib reports it as another kind of error than a refused
 * one, and an error status as the same kind.
 */
function breakOff(request: PlaneRequest['request'], response: PlaneRequest['response']): void {
  if (/^Python-urllib\//.test(request.headers['user-agent'] ?? ''))
    refuse(response, 502, 'the connection was refused');
  else (request.socket as Socket).resetAndDestroy();
}

/** `host:port`, with IPv6 in brackets. */
function placeOf(target: string): { readonly host: string; readonly port: number } | undefined {
  const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[^:/@\s]+):(\d{1,5})$/i.exec(target) ?? [];
  return host === '' || Number(port) === 0 || Number(port) > 65_535
    ? undefined
    : { host: bareHost(host).toLowerCase(), port: Number(port) };
}

/** Joins two connections. Each end closes its direction. */
function join(a: Duplex, b: Duplex, onClose: () => void): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on('error', () => to.destroy());
    // Delivers the data received before the end.
    from.on('close', () => (to as Socket).destroySoon());
    from.pipe(to);
  }
  a.once('close', onClose);
}
