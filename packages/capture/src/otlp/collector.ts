import { readFileSync } from 'node:fs';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { framed, type Signal } from './reply.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The target of the user's own telemetry. Its headers may contain keys, so they stay in memory. */
export interface Collector {
  readonly signal: Signal;
  readonly url: URL;
  readonly isGrpc: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly ca?: Buffer;
}

/** An unchanged request to forward. */
export interface Copy {
  readonly signal: Signal;
  readonly bytes: Buffer;
  readonly isJson: boolean;
  readonly encoding: string | undefined;
}

export const SERVICES: Readonly<Record<Signal, string>> = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
};

/** The collector in the user's variables for a signal. */
export function collectorOf(signal: Signal, env: Env): Collector | undefined {
  const own = (name: string): string | undefined =>
    env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`] || undefined;
  const general = (name: string): string | undefined =>
    env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const address = own('ENDPOINT') ?? general('ENDPOINT');
  if (address === undefined) return undefined;
  const isGrpc = (own('PROTOCOL') ?? general('PROTOCOL')) === 'grpc' || /:4317\/?$/.test(address);
  const url = urlOf(address);
  if (url === undefined) return undefined;
  if (isGrpc) url.pathname = SERVICES[signal];
  else if (own('ENDPOINT') === undefined)
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  const certificate = own('CERTIFICATE') ?? general('CERTIFICATE');
  const ca = certificate === undefined ? undefined : fileOf(certificate);
  return {
    signal,
    url,
    isGrpc,
    headers: { ...headersOf(general('HEADERS')), ...headersOf(own('HEADERS')) },
    ca,
  };
}

function urlOf(address: string): URL | undefined {
  try {
    // The spelling for gRPC has no scheme.
    const url = new URL(/^https?:\/\//i.test(address) ? address : `http://${address}`);
    return url;
  } catch {
    return undefined;
  }
}

function fileOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** `a=1,b=two%20words`, as in the specification. */
function headersOf(list: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const part of (list ?? '').split(',')) {
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim().toLowerCase();
    if (at > 0 && /^[\w!#$%&'*+.^`|~-]+$/.test(name))
      headers[name] = decoded(part.slice(at + 1).trim());
  }
  return headers;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/**
 * Sends copies to collectors. It never waits, buffers little, and only counts errors, because the
 * agent must not notice a slow or missing collector.
 */
export class Forwarder {
  readonly #collectors: readonly Collector[];
  readonly #pending = new Set<Promise<void>>();
  #waiting = 0;
  /** Number of lost copies, by host. */
  readonly lost = new Map<string, number>();
  sent = 0;

  constructor(collectors: readonly Collector[]) {
    this.#collectors = collectors;
  }

  forward(copy: Copy): void {
    for (const collector of this.#collectors) {
      if (collector.signal !== copy.signal) continue;
      const size = copy.bytes.length;
      // gRPC supports only protobuf.
      if (this.#waiting + size > MAX_WAITING_BYTES || (collector.isGrpc && copy.isJson)) {
        this.#lose(collector);
        continue;
      }
      this.#waiting += size;
      const sending = (collector.isGrpc ? sendGrpc(collector, copy) : sendHttp(collector, copy))
        .then(
          () => {
            this.sent++;
          },
          () => this.#lose(collector),
        )
        .finally(() => {
          this.#waiting -= size;
          this.#pending.delete(sending);
        });
      this.#pending.add(sending);
    }
  }

  /** Waits briefly for pending copies. */
  async settle(maxMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxMs);
    });
    await Promise.race([Promise.all(this.#pending), limit]);
    clearTimeout(timer);
  }

  #lose({ url }: Collector): void {
    this.lost.set(url.host, (this.lost.get(url.host) ?? 0) + 1);
  }
}

const sendHttp = (
  { url, headers, ca }: Collector,
  { bytes, isJson, encoding }: Copy,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const options: RequestOptions & { ca?: Buffer } = {
      method: 'POST',
      timeout: TIMEOUT_MS,
      headers: {
        ...headers,
        'content-type': isJson ? 'application/json' : 'application/x-protobuf',
        'content-length': bytes.length,
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      },
      ca,
    };
    const sending = request(url, options, (response) => {
      response.resume();
      response.on('end', () =>
        (response.statusCode ?? 500) < 300
          ? resolve()
          : reject(new Error(`status ${response.statusCode}`)),
      );
      response.on('error', reject);
    });
    sending.on('timeout', () => sending.destroy(new Error('timeout')));
    sending.on('error', reject);
    sending.end(bytes);
  });

const sendGrpc = ({ url, headers, ca }: Collector, { bytes, encoding }: Copy): Promise<void> =>
  new Promise((resolve, reject) => {
    const session = connect(url.origin, ca === undefined ? {} : { ca });
    const fail = (error: Error): void => {
      session.destroy();
      reject(error);
    };
    session.on('error', fail);
    session.setTimeout(TIMEOUT_MS, () => fail(new Error('timeout')));
    const message = framed(bytes);
    if (encoding !== undefined) message[0] = 1;
    const stream = session.request({
      ...headers,
      ':method': 'POST',
      ':path': url.pathname,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(encoding === undefined ? {} : { 'grpc-encoding': encoding }),
    });
    let status: unknown;
    const note = (seen: Record<string, unknown>): void => {
      status = seen['grpc-status'] ?? status;
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('error', fail);
    stream.on('close', () => {
      session.close();
      if (status === '0') resolve();
      else reject(new Error(`grpc-status ${String(status)}`));
    });
    stream.resume();
    stream.end(message);
  });
