import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { classifyError, errorFacts } from './classify-error.ts';
import { MAX_OUTPUT_BYTES } from './command.ts';
import type { Received } from './http-response.ts';
import { AgentError } from './runner.ts';

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** Connections are used again, and never keep the process alive by themselves. */
const AGENTS = {
  http: new HttpAgent({ keepAlive: true }),
  https: new HttpsAgent({ keepAlive: true }),
};

/**
 * Sends one request and reads the response to its end, up to a bound. Not by `fetch`, which gives out what there is of a
 * compressed body that breaks off as if it were the whole. Redirects are not followed.
 */
export async function sendRequest(request: HttpRequest): Promise<Received> {
  const started = performance.now();
  const response = await responseTo(request);
  const body = decoded(response);
  const chunks: Uint8Array[] = [];
  const times: number[] = [];
  let bytes = 0;
  try {
    await readToEnd(body, (chunk) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES)
        throw new AgentError(
          'agent',
          `the agent sent more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB`,
        );
      chunks.push(chunk);
      times.push(performance.now() - started);
    });
    if (!response.complete) throw new Error('the connection was closed');
  } catch (error) {
    response.destroy();
    if (error instanceof AgentError) throw error;
    // The connection was lost in the middle of the answer: the network's failure, not the agent's.
    throw new AgentError('infra', `the answer was cut off: ${errorFacts(error).message}`);
  }
  const setCookies = response.headers['set-cookie'];
  return {
    status: response.statusCode ?? 0,
    // Node joins what came more than once; cookies are the one list.
    headers: response.headers as Readonly<Record<string, string>>,
    chunks,
    times,
    setCookies,
  };
}

/** By its events: an iterator makes several promises for each chunk. */
function readToEnd(body: Readable, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    body.on('data', (chunk: Buffer) => {
      try {
        onChunk(chunk);
      } catch (error) {
        reject(error);
      }
    });
    body.on('end', resolve);
    body.on('error', reject);
    // It comes after every end, and an error is expensive to make.
    body.on('close', () => body.readableEnded || reject(new Error('the connection was closed')));
  });
}

function responseTo(request: HttpRequest): Promise<IncomingMessage> {
  const { url, method, body, signal } = request;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      const { message } = classifyError(errorFacts(error), { prefix: 'the request failed: ' });
      reject(new AgentError('infra', message));
    };
    try {
      const target = targetAt(url);
      const isTls = target.protocol === 'https:';
      const options = {
        ...target,
        method,
        headers: headersFor(request, target),
        agent: isTls ? AGENTS.https : AGENTS.http,
      };
      const sent = isTls ? requestHttps(options, resolve) : requestHttp(options, resolve);
      endWith(signal, sent);
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // A connection kept open may be closed by the other side just when it is to be used again.
        if (sent.reusedSocket && error.code === 'ECONNRESET')
          responseTo(request).then(resolve, reject);
        else fail(error);
      });
      sent.end(body);
    } catch (error) {
      fail(error);
    }
  });
}

type Target = Pick<RequestOptions, 'protocol' | 'hostname' | 'port' | 'path' | 'auth'> & {
  readonly host: string;
};

/**
 * As a list: Node writes one down as it is, which takes a third less than the whole request with a map. It then adds neither the
 * host nor what the address says of the user.
 */
function headersFor(
  { headers, body }: HttpRequest,
  { host, auth }: Target,
): Record<string, string> | string[] {
  const length: Record<string, string> =
    body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const all: Record<string, string> = {
    'accept-encoding': 'gzip, br',
    'user-agent': 'agentci',
    ...length,
    ...headers,
  };
  if (auth != null) return all;
  const list: string[] = all.host === undefined ? ['host', host] : [];
  for (const name in all) list.push(name, all[name]!);
  return list;
}

let lastTarget: { readonly url: string; readonly target: Target } | undefined;

/** An address as Node's client wants it. Mostly it is the same for every query, and parsing it takes as long as the request. */
function targetAt(url: string): Target {
  if (lastTarget?.url !== url) {
    const at = new URL(url);
    const { protocol, hostname, port, path, auth } = urlToHttpOptions(at);
    const { host } = at;
    lastTarget = {
      url,
      target: { protocol, hostname, port, path, host, auth },
    };
  }
  return lastTarget.target;
}

/** As the option `signal` of a request, which watches the whole stream for it. The signal is of one run, so it may keep its listener. */
function endWith(signal: AbortSignal, sent: ClientRequest): void {
  const end = (): void =>
    void sent.destroy(new DOMException('The operation was aborted', 'AbortError'));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
}

/** The body without its compression; one that ends too early is an error of the stream. */
function decoded(response: IncomingMessage): Readable {
  const written = response.headers['content-encoding'];
  if (written === undefined) return response;
  const codings = written.toLowerCase().split(',');
  let body: Readable = response;
  for (const coding of codings.map((name) => name.trim()).reverse()) {
    const decoder = decoderOf(coding);
    if (decoder === undefined) continue;
    const source = body;
    source.once('error', (error) => decoder.destroy(error));
    response.once('aborted', () => decoder.destroy(new Error('the connection was closed')));
    body = source.pipe(decoder);
  }
  return body;
}

function decoderOf(coding: string) {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip();
  if (coding === 'br') return createBrotliDecompress();
  return coding === 'deflate' ? createInflate() : undefined;
}
