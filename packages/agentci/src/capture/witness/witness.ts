import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { headerObject, headersForClient } from '../model/headers.ts';
import { routeOf } from '../model/route.ts';
import { bareHost } from '../model/upstream.ts';
import type { CaptureNote, Plane, PlaneContext, PlaneRequest } from '../plane.ts';
import { plainHost } from '../providers.ts';
import { refuse } from '../refuse.ts';
import { witnessEnvironment } from './environment.ts';
import { credentialsFor, portOf, proxyOf, reach } from './user-proxy.ts';

export interface WitnessOptions {
  /** A host at which models answer, port left out. */
  readonly isModelHost: (host: string) => boolean;
  /** Of each kind one, to find exceptions that would hide them. */
  readonly modelHosts: readonly string[];
  readonly providers: readonly string[];
  /** Set where nothing may pass: called with every host that was refused. This machine's own are not. */
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
export function openWitness(context: PlaneContext, options: WitnessOptions): Plane {
  const { env } = context;
  const all = new Set<string>();
  let models = new Set<string>();
  let others = new Set<string>();
  const tunnels = new Map<Duplex, string>();
  const counts = { connections: 0 };

  const note = (host: string, isModel: boolean): void => {
    counts.connections++;
    if (all.size < MAX_HOSTS) all.add(host);
    if (isModel) models.add(host);
    else if (others.size < MAX_HOSTS && !isLocal(host)) others.add(host);
  };

  const isRefused = (host: string, isModel: boolean): boolean => {
    if (options.refuses === undefined || isLocal(host)) return false;
    note(host, false);
    others.delete(host);
    options.refuses(host, isModel);
    return true;
  };

  const tunnel = async (target: string, client: Duplex, head: Buffer): Promise<void> => {
    const place = placeOf(target);
    if (place === undefined) {
      client.end('HTTP/1.1 400 the address is not a host and a port\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const host = plainHost(place.host);
    if (isRefused(host, options.isModelHost(host))) {
      client.end(`HTTP/1.1 403 ${BLOCKED}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    try {
      const { socket, head: first } = await reach(place, env);
      note(host, options.isModelHost(host));
      for (const end of [client, socket]) tunnels.set(end, host);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.write(first);
      socket.write(head);
      join(client, socket, () => {
        for (const end of [client, socket]) tunnels.delete(end);
      });
    } catch {
      client.end('HTTP/1.1 502 the host could not be reached\r\ncontent-length: 0\r\n\r\n');
    }
  };

  const proxy = ({ request, response }: Omit<PlaneRequest, 'path'>): void => {
    let target: URL;
    try {
      target = new URL(request.url ?? '');
    } catch {
      refuse(response, 400, 'the address cannot be read');
      return;
    }
    const method = request.method ?? 'GET';
    const host = bareHost(target.hostname);
    if (
      isRefused(plainHost(host), options.isModelHost(plainHost(host)) || routeOf(method, target.pathname) !== 'other')
    ) {
      refuse(response, 403, BLOCKED);
      return;
    }
    const upstream = proxyOf('http', host, env);
    const headers = headerObject(headersForClient(request.rawHeaders));
    const length = request.headers['content-length'];
    const hasBody = length !== undefined || request.headers['transfer-encoding'] !== undefined;
    const sending = httpRequest({
      host: upstream === undefined ? host : bareHost(upstream.hostname),
      port: upstream === undefined ? target.port || 80 : portOf(upstream),
      path: upstream === undefined ? target.pathname + target.search : target.href,
      method,
      agent: false,
      headers: { ...headers, host: target.host, ...(upstream === undefined ? {} : credentialsFor(upstream)) },
    });
    sending.on('response', (reply) => {
      note(plainHost(host), options.isModelHost(plainHost(host)) || routeOf(method, target.pathname) !== 'other');
      (response as { writeHead: (status: number, headers: object) => unknown }).writeHead(
        reply.statusCode ?? 502,
        headerObject(headersForClient(reply.rawHeaders)),
      );
      reply.pipe(response as unknown as NodeJS.WritableStream);
      reply.on('error', () => response.destroy());
    });
    sending.on('error', () => {
      if (response.headersSent) response.destroy();
      else refuse(response, 502, 'the host could not be reached');
    });
    response.on('close', () => sending.destroy());
    if (hasBody) request.pipe(sending);
    else sending.end();
  };

  return {
    name: 'witness',
    environment: () =>
      witnessEnvironment({
        origin: context.origin,
        token: context.token,
        env,
        providers: options.providers,
        modelHosts: options.modelHosts,
        isOffline: options.refuses !== undefined,
      }),
    handle: ({ response }) => refuse(response, 404, 'the witness is a proxy'),
    tunnel: (target, socket, head) => void tunnel(target, socket, head),
    proxy,
    begin: () => {
      // A connection that is still open may be used again.
      const open = [...tunnels.values()];
      models = new Set(open.filter(options.isModelHost));
      others = new Set(open.filter((host) => !options.isModelHost(host) && !isLocal(host)));
    },
    end: async () => ({
      gaps: models.size === 0 ? [] : [{ gap: 'tunnelled', detail: [...models].sort().join(', ') }],
      ...(others.size === 0 ? {} : { notes: [otherHosts([...others].sort())] }),
    }),
    report: () => ({ ...counts, hosts: [...all].sort() }),
    close: async () => {
      for (const end of tunnels.keys()) end.destroy();
    },
  };
}

/** A model that nothing here knows may be among them: people can tell. */
const otherHosts = (hosts: readonly string[]): CaptureNote => ({
  code: 'CAPTURE_OTHER_HOSTS',
  message: `the agent also connected to ${hosts.slice(0, MAX_NAMED).join(', ')}${
    hosts.length > MAX_NAMED ? ` and ${hosts.length - MAX_NAMED} more hosts` : ''
  }: if a model answers at one of them, its calls are missing`,
});

const isLocal = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

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
