import { readFileSync } from 'node:fs';
import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import {
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
} from 'node:tls';
import { isLoopback } from './model-call.ts';

/** Connections to providers, kept open and shared by all fronts of a capture. */
export interface Connections {
  readonly request: (
    target: URL,
    options: { readonly method: string; readonly headers: string[] },
  ) => ClientRequest;
  readonly close: () => void;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Opens connections as the agent would: through the proxy of its environment, if set. */
export function openConnections(env: Env): Connections {
  const plain = new HttpAgent({ keepAlive: true });
  const trust = trustOf(env);
  const secure = new HttpsAgent({ keepAlive: true, ...trust });
  const throughProxy = new Map<string, HttpsAgent>();
  const proxied = (proxy: string): HttpsAgent => {
    const known = throughProxy.get(proxy) ?? new ProxiedAgent(new URL(proxy), trust);
    throughProxy.set(proxy, known);
    return known;
  };
  return {
    request: (target, { method, headers }) => {
      // A base URL may contain a user and a password. Only `host`, `port` and `path` reach the
      // request.
      const place = {
        host: bareHost(target.hostname),
        port: target.port,
        path: target.pathname + target.search,
      };
      if (target.protocol === 'http:')
        return httpRequest({ ...place, method, headers, agent: plain });
      const proxy = proxyFor(target, env);
      return httpsRequest({
        ...place,
        method,
        headers,
        agent: proxy === undefined ? secure : proxied(proxy),
      });
    },
    close: () => {
      for (const agent of [plain, secure, ...throughProxy.values()]) agent.destroy();
    },
  };
}

export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '');

/** The proxy of the environment for an address, unless an exception applies. */
export function proxyFor(target: URL, env: Env): string | undefined {
  const proxy = env.https_proxy ?? env.HTTPS_PROXY ?? env.all_proxy ?? env.ALL_PROXY;
  const host = bareHost(target.hostname);
  if (proxy === undefined || !/^http:\/\//i.test(proxy) || isLoopback(host)) return undefined;
  return proxyExceptions(env).some((name) => isCovered(host, name)) ? undefined : proxy;
}

/** Hosts that are reached without a proxy. */
export const proxyExceptions = (env: Env): string[] =>
  (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/).filter((name) => name !== '');

/** Whether an exception covers a host: its name, or a parent domain. */
export function isCovered(host: string, exception: string): boolean {
  const bare = exception.replace(/^\*?\./, '').replace(/:\d+$/, '');
  return exception === '*' || host === bare || host.endsWith(`.${bare}`);
}

/**
 * The trusted certificates of the agent. Its variables may allow servers that this program would
 * not trust.
 */
interface Trust {
  readonly rejectUnauthorized?: false;
  readonly secureContext?: SecureContext;
}
function trustOf(env: Env): Trust {
  const trust =
    env.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? { rejectUnauthorized: false as const } : {};
  if (!env.NODE_EXTRA_CA_CERTS) return trust;
  try {
    const ca = [...rootCertificates, readFileSync(env.NODE_EXTRA_CA_CERTS, 'utf8')];
    // Once for all connections, because there are many certificates to read.
    return { ...trust, secureContext: createSecureContext({ ca }) };
  } catch {
    // As Node does if the file is unreadable.
    return trust;
  }
}

/** Reaches TLS servers through a tunnel of an HTTP proxy. */
class ProxiedAgent extends HttpsAgent {
  readonly #proxy: URL;
  readonly #trust: Trust;

  constructor(proxy: URL, trust: Trust) {
    super({ keepAlive: true });
    this.#proxy = proxy;
    this.#trust = trust;
  }

  override createConnection(
    options: { host?: string; port?: number | string },
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { hostname, port, username, password } = this.#proxy;
    const target = `${options.host}:${options.port || 443}`;
    const credentials = Buffer.from(
      `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
    ).toString('base64');
    const asked = httpRequest({
      host: bareHost(hostname),
      port: port || 80,
      method: 'CONNECT',
      path: target,
      agent: false,
      headers: {
        host: target,
        'proxy-authorization': username !== '' ? `Basic ${credentials}` : undefined,
      },
    });
    const fail = (error: Error): void => callback?.(error, undefined as unknown as Duplex);
    asked.on('error', fail);
    asked.on('connect', (reply, socket) => {
      if (reply.statusCode !== 200) {
        socket.destroy();
        return fail(new Error(`the proxy ${this.#proxy.host} answered ${reply.statusCode}`));
      }
      callback?.(null, connectTls({ socket, servername: options.host ?? '', ...this.#trust }));
    });
    asked.end();
    return undefined;
  }
}
