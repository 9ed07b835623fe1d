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
import { witnessEnvironment } from './environment.ts';
import { credentialsFor, portOf, proxyOf, reach } from './user-proxy.ts';

export interface WitnessOptions {
  /** A host at which models answer. On this machine a port is needed to tell: others have servers here too. */
  readonly isModelHost: (host: string, port: number) => boolean;
  /** Of each kind one, to find exceptions that would hide them. */
  readonly modelHosts: readonly string[];
  readonly providers: readonly string[];
  /** Set where nothing may pass: called with every host that was refused. Of this machine's own only models are. */
  readonly refuses?: ((host: string, isModel: boolean) => void) | undefined;
}

/** More hosts than this are counted, not named. */
const MAX_HOSTS = 200;
const MAX_NAMED = 10;
/** Clients show these words: Python prints them, curl names the status. */
const BLOCKED = 'blocked by agentci replay';

/**
 * A proxy that only looks at where connections go: what an agent reaches past the model plane is named, never read. A model
 * among these hosts means that calls were made which nothing here shows.
 */
export const openWitness = (context: PlaneContext, options: WitnessOptions): Plane =>
  new Witness(context, options);

class Witness implements Plane {
  readonly name = 'witness';
  readonly #context: PlaneContext;
  readonly #options: WitnessOptions;
  readonly #all = new Set<string>();
  #models = new Set<string>();
  #others = new Set<string>();
  readonly #tunnels = new Map<Duplex, { readonly host: string; readonly isModel: boolean }>();
  readonly #counts = { connections: 0 };

  constructor(context: PlaneContext, options: WitnessOptions) {
    this.#context = context;
    this.#options = options;
  }

  environment = (): ReturnType<Plane['environment']> =>
    witnessEnvironment({
      origin: this.#context.origin,
      token: this.#context.token,
      env: this.#context.env,
      providers: this.#options.providers,
      modelHosts: this.#options.modelHosts,
      isOffline: this.#options.refuses !== undefined,
    });

  handle = ({ response }: PlaneRequest): void => refuse(response, 404, 'the witness is a proxy');

  tunnel = (target: string, socket: Duplex, head: Buffer): void =>
    void this.#tunnel(target, socket, head);

  upgrade = (url: URL, head: Buffer, socket: Duplex): void => void this.#upgrade(url, head, socket);

  begin = (): void => {
    // A connection that is still open may be used again.
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
      // Before the bytes are passed on: a connection that it ends passes nothing.
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
   * Looks at what a client sends through a tunnel in the clear, piece by piece: a model's call in there is told of, and in
   * replay does not get through. What is encrypted cannot be looked at, on this machine it is at least named.
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

  /** A WebSocket: its first request goes to the server as it would have come without a proxy, and the rest are bytes. */
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
    // A server of tools on this machine may have such a path. What is a model's by its looks has been claimed.
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
  // A program may ask a server of this machine for a site by another name.
  const named = isLoopback(bareHost(target.hostname)) ? request.headers.host : undefined;
  const headers = ['Host', named ?? target.host, ...headersForClient(request.rawHeaders, RENEWED)];
  if (hasBody && !hasLength) headers.push('Transfer-Encoding', 'chunked');
  // Without it Node announces a body in chunks.
  if (!hasBody && !/^(?:get|head|options|delete)$/i.test(request.method ?? 'GET'))
    headers.push('Content-Length', '0');
  return [
    ...headers,
    ...Object.entries(upstream === undefined ? {} : credentialsFor(upstream)).flat(),
  ];
}

/** A model that nothing here knows may be among them: people can tell. */
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
/** Said anew; `expect` was answered here already. */
const RENEWED: ReadonlySet<string> = new Set(['host', 'expect']);

/**
 * No server is there. Without a proxy the connection is refused, which is how programs wait for a server to come up: an answer
 * of ours would look like it. A connection that breaks off is nearest to it, but urllib reports that as another kind of
 * error than one that is refused, and a status of a proxy as the same.
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

/** Two connections as one: bytes as they come, and the end of one side is the end of that direction. */
function join(a: Duplex, b: Duplex, onClose: () => void): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on('error', () => to.destroy());
    // What was received before the end is still delivered.
    from.on('close', () => (to as Socket).destroySoon());
    from.pipe(to);
  }
  a.once('close', onClose);
}
