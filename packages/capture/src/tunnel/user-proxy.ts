import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { isLoopback } from '../model/model-call.ts';
import { bareHost, isCovered, proxyExceptions } from '../model/upstream.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The proxies in the user's settings. `unusable` is a variable with an unsupported kind. */
export interface UserProxies {
  readonly http?: URL;
  readonly https?: URL;
  readonly unusable?: string;
}

export function userProxies(env: Env): UserProxies {
  const found: { http?: URL; https?: URL } = {};
  for (const scheme of ['http', 'https'] as const) {
    const name = [
      `${scheme}_proxy`,
      `${scheme.toUpperCase()}_PROXY`,
      'all_proxy',
      'ALL_PROXY',
    ].find((key) => env[key]);
    if (name === undefined) continue;
    const url = proxyUrl(env[name]!);
    if (url === undefined) return { unusable: name };
    found[scheme] = url;
  }
  return found;
}

function proxyUrl(value: string): URL | undefined {
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The user's proxy for a host, unless it is an exception or this machine, which would mean another
 * machine there.
 */
export function proxyOf(scheme: 'http' | 'https', host: string, env: Env): URL | undefined {
  if (isLoopback(host)) return undefined;
  const proxy = userProxies(env)[scheme];
  return proxyExceptions(env).some((exception) => isCovered(host, exception)) ? undefined : proxy;
}

/** Credentials for a proxy. */
export const credentialsFor = ({ username, password }: URL): Record<string, string> =>
  username === ''
    ? {}
    : {
        'proxy-authorization': `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
      };

export const portOf = (url: URL): number =>
  Number(url.port) || (url.protocol === 'https:' ? 443 : 80);

const CONNECT_TIMEOUT_MS = 30_000;

/** Connects to a host as the agent would have: directly, or through the user's own proxy. */
export const reach = (
  { host, port }: { readonly host: string; readonly port: number },
  env: Env,
): Promise<{ readonly socket: Duplex; readonly head: Buffer }> =>
  new Promise((resolve, reject) => {
    const proxy = proxyOf('https', host, env);
    if (proxy === undefined) {
      const socket = connect({
        host,
        port,
        noDelay: true,
        allowHalfOpen: true,
        timeout: CONNECT_TIMEOUT_MS,
      });
      socket.once('timeout', () => socket.destroy(new Error('no connection in time')));
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.off('error', reject);
        resolve({ socket, head: Buffer.alloc(0) });
      });
      return;
    }
    const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const asked = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: bareHost(proxy.hostname),
      port: portOf(proxy),
      method: 'CONNECT',
      path: target,
      agent: false,
      timeout: CONNECT_TIMEOUT_MS,
      headers: { host: target, ...credentialsFor(proxy) },
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', reject);
    asked.on('connect', (reply, socket, head) => {
      asked.setTimeout(0);
      if (reply.statusCode === 200) resolve({ socket, head });
      else {
        socket.destroy();
        reject(new Error(`the proxy ${proxy.host} answered ${reply.statusCode}`));
      }
    });
    asked.end();
  });
