import { isLoopback } from '../model/model-call.ts';
import { isCovered, proxyExceptions } from '../model/upstream.ts';
import type { CaptureNote, PlaneEnvironment } from '../plane.ts';
import { userProxies } from './user-proxy.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Programs read different spellings, and some prefer one that was set before. */
const PROXY_NAMES = [
  'HTTP_PROXY',
  'http_proxy',
  'HTTPS_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'all_proxy',
];
/** The address from which cloud machines get credentials. */
const CREDENTIALS = '169.254.169.254';

/** SDKs that send telemetry to the host of their model. In a tunnel it looks like a model call. */
const QUIET: Readonly<Record<string, readonly [name: string, value: string]>> = {
  openai: ['OPENAI_AGENTS_DISABLE_TRACING', '1'],
  anthropic: ['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', '1'],
};

/**
 * The variables that send an agent's other connections through the tunnel proxy, including local
 * ones, because a model may run locally. The front itself is an exception by its port, which saves
 * a step for clients that support ports there (httpx, urllib, Node). For the others, such as curl
 * and requests, the front works as a proxy too. A separate address in 127.0.0.0/8 would be an
 * exception that all clients support, but macOS has only 127.0.0.1.
 */
export function tunnelEnvironment(options: {
  readonly origin: string;
  readonly token: string;
  readonly env: Env;
  readonly providers: readonly string[];
  /** Hosts of models, one of each kind. An exception that covers one would hide its calls. */
  readonly modelHosts: readonly string[];
  /** Nothing may be reached, so the user's own proxy does not matter. */
  readonly isOffline?: boolean;
}): PlaneEnvironment {
  const { origin, token, env, providers, modelHosts, isOffline = false } = options;
  const notes: CaptureNote[] = [];
  const { unusable } = userProxies(env);
  if (unusable !== undefined && !isOffline)
    return {
      set: {},
      notes: [
        {
          code: 'CAPTURE_NO_WITNESS',
          message: `${unusable} names a proxy that is not an HTTP proxy: it stays as it is, and calls that pass the capture by are not noticed`,
        },
      ],
    };
  const proxy = origin.replace('http://', `http://agentci:${token}@`);
  const set: Record<string, string> = Object.fromEntries(PROXY_NAMES.map((name) => [name, proxy]));
  const direct = [new URL(origin).host, CREDENTIALS];
  const kept = proxyExceptions(env).filter(
    (exception) =>
      !direct.includes(exception) &&
      !hidesLoopback(exception) &&
      !modelHosts.some((host) => !isLoopback(host) && isCovered(host, exception)),
  );
  set.NO_PROXY = [...direct, ...kept].join(',');
  set.no_proxy = set.NO_PROXY;
  if (!env.NODE_USE_ENV_PROXY) set.NODE_USE_ENV_PROXY = '1';
  for (const provider of providers) {
    const [name, value] = QUIET[provider] ?? [];
    if (name === undefined || value === undefined || env[name]) continue;
    set[name] = value;
  }
  return { set, notes };
}

const LOOPBACK_NAMES = ['127.0.0.1', '0.0.0.0', 'localhost'];

/**
 * Most people who need a proxy except this machine from it. An exception with a port is intended
 * and stays. Many programs treat an exception as a suffix, so `.1` is this machine too.
 */
function hidesLoopback(exception: string): boolean {
  if (exception === '*') return true;
  if (/[^:]:\d+$/.test(exception)) return false;
  const end = exception.replace(/^\*?\./, '').replace(/\/\d+$/, '');
  return isLoopback(end) || LOOPBACK_NAMES.some((name) => name.endsWith(`.${end}`));
}
