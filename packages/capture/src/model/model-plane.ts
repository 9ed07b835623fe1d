import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { GapNote } from '@agentci/formats';
import { rememberFields, rememberKeys } from '@agentci/lib/secrets';
import { plainPath } from '../cassette/plain-path.ts';
import type { Exchange } from '../exchange.ts';
import type { CaptureNote, Plane, PlaneContext, PlaneRequest } from '../plane.ts';
import { refuse } from '../refuse.ts';
import { proxyOf } from '../tunnel/user-proxy.ts';
import { targetOf, type Upstream, unnamedUpstream } from '../upstreams.ts';
import type { Answer } from './answer.ts';
import { askUsage } from './ask-usage.ts';
import { ExchangeBook, MAX_BODY_BYTES, type Opened } from './exchange-book.ts';
import { QUERY_HEADER } from './headers.ts';
import { isModelCall } from './model-call.ts';
import { relay } from './relay.ts';
import { routeOf } from './route.ts';
import { serveReply } from './serve-reply.ts';
import { awsCredentials, isSigned, signAgain } from './sign-v4.ts';
import { bareHost, type Connections } from './upstream.ts';

export interface ModelPlaneOptions {
  readonly upstreams: readonly Upstream[];
  /**
   * Provider hosts that a path may name in full: `/@api.example.com/v1/…`. For clients whose
   * addresses are rewritten.
   */
  readonly upstreamOfHost: (host: string) => Upstream | undefined;
  readonly environment: Plane['environment'];
  readonly connections: Connections;
  readonly answer?: Answer | undefined;
  /** Sends nothing upstream. A request without an answer here fails. */
  readonly isOffline?: boolean | undefined;
  /** Whether an agent may still make a call after its answer. Default: it may. */
  readonly expectsMore?: (() => boolean) | undefined;
  /** Called once when calls come for a finished query. */
  readonly onNote?: ((note: CaptureNote) => void) | undefined;
  /** Called for every such call, with the number of its query, from 1. */
  readonly onLate?: ((query: number) => void) | undefined;
  /**
   * Grace time for a persistent agent: calls that it starts right after its answer still belong to
   * the query.
   */
  readonly lingerMs?: (() => number | undefined) | undefined;
  /** The query is a turn of a conversation, so expected calls may belong to a later one. */
  readonly isTurn?: (() => boolean) | undefined;
  /** Called with every finished exchange. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Hosts that rejected the request for usage. Shared by all fronts. */
  readonly refusesUsage: Set<string>;
}

/**
 * Data that a program sent before its end is read within this many turns of the event loop: its
 * connection, its first bytes, its request.
 */
const ARRIVAL_TURNS = 10;
/** A request that an agent has started arrives in this time, or was given up. */
const ARRIVAL_MS = 250;

/** Relays model calls to their providers and records the traffic. */
export function openModelPlane(context: PlaneContext, options: ModelPlaneOptions): Plane {
  let book = new ExchangeBook(context.now, options.onExchange);
  let sockets = 0;
  /** Servers whose calls the preload could not redirect. */
  let past = new Set<string>();
  /** Number of queries so far. A module's thread counts its calls in the same way. */
  let query = 0;
  let hasTold = false;
  /** Handles a call of a finished query. */
  const openLate = (about: Opened, of: number): ReturnType<ExchangeBook['open']> => {
    counts.late++;
    options.onLate?.(of);
    if (!hasTold) options.onNote?.(options.isOffline === true ? LATE_IN_REPLAY : LATE);
    hasTold = true;
    return new ExchangeBook(context.now).open(about);
  };
  const counts = { calls: 0, incomplete: 0, failed: 0, late: 0 };

  const isOfAnother = (given: string | string[] | undefined): boolean =>
    book.isClosed || (given !== undefined && given !== String(query));

  const take = async ({ path, request, response }: PlaneRequest): Promise<void> => {
    if (/^websocket$/i.test(request.headers.upgrade ?? '')) {
      sockets++;
      const headers = { upgrade: 'HTTP/1.1', connection: 'upgrade' };
      refuse(response, 426, 'WebSockets are not captured. Use HTTP.', headers);
      return;
    }
    const [, host] = /^\/@past\/([^/]+)$/.exec(path) ?? [];
    if (host !== undefined) {
      past.add(host);
      response.writeHead(204);
      response.end();
      return;
    }
    const found = findPlace(request.method ?? 'GET', path, options);
    if (found === undefined) {
      refuse(
        response,
        404,
        `${JSON.stringify(path.slice(0, 200))} belongs to no provider that is captured`,
      );
      return;
    }
    rememberKeys(request);
    const { rest, target, about } = found;
    const { route } = about;
    const given = request.headers[QUERY_HEADER];
    const isLate = isOfAnother(given);
    const exchange = isLate
      ? openLate(about, given === undefined ? query : Number(given))
      : book.open(about);
    const read = await readBody(request);
    if (read === undefined) {
      exchange.end({ complete: false, why: 'client_abort' });
      return;
    }
    const { body, isWhole } = read;
    const encoding = encodingOf(request);
    rememberFields(body.toString('utf8'));
    exchange.asked(isWhole ? body : undefined, encoding);
    const isAnswerable = isWhole && !(options.isOffline === true && isLate);
    // An error in a hook must not break the agent.
    const reply = isAnswerable
      ? await options.answer?.({ ...about, path: rest, body, encoding }).catch(() => undefined)
      : undefined;
    if (reply !== undefined) {
      await serveReply(reply, response, exchange);
      return;
    }
    if (options.isOffline === true) {
      const why = isLate
        ? 'the query that it belongs to is over'
        : 'it cannot be answered from a cassette';
      exchange.end({ complete: false, error: why });
      refuse(response, 400, why, { 'x-should-retry': 'false' });
      return;
    }
    const headers = headersOf({ request, target, body, isWhole });
    if (typeof headers === 'string') {
      exchange.end({ complete: false, error: headers });
      refuse(response, 400, headers);
      return;
    }
    const mayAsk =
      isWhole &&
      (route === 'chat' || route === 'completions') &&
      !options.refusesUsage.has(target.host);
    const asking = mayAsk ? askUsage(body) : undefined;
    relay({
      connections: options.connections,
      target,
      request,
      response,
      exchange,
      body: asking ?? body,
      isWhole,
      headers,
      usage: asking && { plain: body, onRefused: () => options.refusesUsage.add(target.host) },
    });
  };

  /**
   * In replay the pending calls are known, so the wait is a little longer: a call that was recorded
   * in time must not be late.
   */
  const linger = async (ms: number): Promise<void> => {
    if (
      options.isOffline !== true ||
      options.expectsMore === undefined ||
      options.isTurn?.() === true
    ) {
      await sleep(ms);
      return;
    }
    const until = performance.now() + 4 * ms;
    while (options.expectsMore() && performance.now() < until) await sleep(1);
  };

  const headersOf = (asked: {
    readonly request: PlaneRequest['request'];
    readonly target: URL;
    readonly body: Buffer;
    readonly isWhole: boolean;
  }): readonly string[] | string => {
    const { rawHeaders, headers, method = 'POST' } = asked.request;
    if (!isSigned(headers.authorization)) return rawHeaders;
    const credentials = awsCredentials(context.env);
    const again =
      credentials === undefined || !asked.isWhole
        ? undefined
        : signAgain(rawHeaders, {
            method,
            target: asked.target,
            body: asked.body,
            credentials,
            now: context.now(),
          });
    return (
      again ??
      'the request is signed for this address (SigV4) and cannot be signed again: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use AWS_BEARER_TOKEN_BEDROCK'
    );
  };

  return {
    name: 'llm',
    environment: options.environment,
    handle: (request) => void take(request),
    // Plaintext calls that need the user's own proxy are left to the tunnel proxy, which knows it.
    claim: (method, url) =>
      proxyOf('http', bareHost(url.hostname), context.env) === undefined
        ? pathOf(method, url, options.upstreams)
        : undefined,
    begin: () => {
      query++;
      book = new ExchangeBook(context.now, options.onExchange);
    },
    end: async ({ maxMs, asked }) => {
      const lingerMs = options.lingerMs?.();
      if (lingerMs !== undefined && options.expectsMore?.() !== false) await linger(lingerMs);
      // A thread reports its number of calls. Once they have all arrived there is nothing to wait
      // for.
      else if (asked === undefined || book.count < asked)
        for (let turn = 0; turn < ARRIVAL_TURNS; turn++) await nextTurn();
      const until = performance.now() + ARRIVAL_MS;
      while (asked !== undefined && book.count < asked && performance.now() < until) await sleep(1);
      const exchanges = await book.close(maxMs);
      const notes: CaptureNote[] = [];
      if (sockets > 0)
        notes.push({
          code: 'CAPTURE_WEBSOCKET',
          message: `the agent asked for a WebSocket ${sockets === 1 ? 'once' : `${sockets} times`} and was told to use HTTP`,
        });
      counts.calls += exchanges.filter(({ route }) => route !== 'other').length;
      counts.incomplete += exchanges.filter(({ complete }) => !complete).length;
      counts.failed += exchanges.filter(
        ({ status }) => status === undefined || status >= 400,
      ).length;
      sockets = 0;
      const gaps: GapNote[] =
        past.size === 0 ? [] : [{ gap: 'tunnelled', detail: [...past].sort().join(', ') }];
      past = new Set();
      return { exchanges, notes, gaps };
    },
    report: () => counts,
    close: async () => {},
  };
}

const LATE: CaptureNote = {
  code: 'CAPTURE_LATE',
  message:
    'the agent called a model after its answer to a query: such calls are not counted, and what passed may have called more',
};
const LATE_IN_REPLAY: CaptureNote = {
  code: 'CASSETTE_LATE',
  message:
    'in replay the agent called a model after its answer to a query: such a call is not answered, and it was not compared with the recording',
};

interface Place {
  readonly target: URL;
  /** The path after the provider. */
  readonly rest: string;
  readonly about: Opened;
}

/** The target of a path, by the provider or the server it names. */
function findPlace(method: string, path: string, options: ModelPlaneOptions): Place | undefined {
  const [, name = '', rest = ''] = /^\/([^/?]+)(.*)$/s.exec(path) ?? [];
  const upstream = upstreamOf(name, { method, rest, ...options });
  if (upstream === undefined) return undefined;
  const { provider } = upstream;
  const { target, uri } = targetOf(upstream, rest);
  const route = routeOf(method, target.pathname);
  return { target, rest, about: { route, provider, method, uri, path: plainPath(rest) } };
}

interface Named extends ModelPlaneOptions {
  readonly method: string;
  readonly rest: string;
}

/**
 * `openai`, `@api.openai.com`, or `@http:localhost:8000`: any server, but only for requests that
 * look like model calls.
 */
function upstreamOf(
  name: string,
  { method, rest, upstreams, upstreamOfHost }: Named,
): Upstream | undefined {
  if (!name.startsWith('@')) return upstreams.find(({ provider }) => provider === name);
  const [, scheme, host = ''] = /^@(https?:)(.+)$/.exec(name) ?? [];
  if (scheme === undefined) return upstreamOfHost(name.slice(1));
  const address = `${scheme}//${host}${rest}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  // The parsed URL must match the written one: no user, and no other spelling of the host. For
  // ambiguous paths the preload has checked the body.
  const isCall = isModelCall(method, url) || routeOf(method, url.pathname) !== 'other';
  return url.host === host.toLowerCase() && isCall ? unnamedUpstream(url) : undefined;
}

/**
 * The local path of a request that names its server in full. Undefined if it is not for a model.
 */
function pathOf(method: string, url: URL, upstreams: readonly Upstream[]): string | undefined {
  const place = url.origin + url.pathname;
  for (const { root, provider, isOwn } of upstreams) {
    const bare = root.replace(/\/+$/, '');
    if (isOwn && (place === bare || place.startsWith(`${bare}/`)))
      return `/${provider}${place.slice(bare.length)}${url.search}`;
  }
  return isModelCall(method, url)
    ? `/@${url.protocol}${url.host}${url.pathname}${url.search}`
    : undefined;
}

const encodingOf = ({ headers }: PlaneRequest['request']): string | undefined => {
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding === 'identity' ? undefined : String(encoding);
};

/**
 * The whole body, or its beginning if it exceeds the limit, with the rest unread. Undefined if the
 * client left before it had sent everything.
 */
const readBody = (
  request: PlaneRequest['request'],
): Promise<{ body: Buffer; isWhole: boolean } | undefined> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) return;
      request.pause();
      request.off('data', onData);
      resolve({ body: Buffer.concat(chunks), isWhole: false });
    };
    request.on('data', onData);
    request.on('end', () =>
      resolve({ body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), isWhole: true }),
    );
    request.on('close', () => resolve(undefined));
  });
