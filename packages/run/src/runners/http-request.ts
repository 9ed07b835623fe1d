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

/** Connections are reused, and never keep the process alive. */
const AGENTS = {
  http: new HttpAgent({ keepAlive: true }),
  https: new HttpsAgent({ keepAlive: true }),
};

/**
 * Sends one request and reads the whole response, up to a limit. Does not use `fetch`, which treats
 * a truncated compressed body as complete. Does not follow redirects.
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
    // The connection was lost in the middle of the response, which is a failure of the network.
    throw new AgentError('infra', `the answer was cut off: ${errorFacts(error).message}`);
  }
  const setCookies = response.headers['set-cookie'];
  return {
    status: response.statusCode ?? 0,
    // Node joins repeated headers. Only cookies are a list.
    headers: response.headers as Readonly<Record<string, string>>,
    chunks,
    times,
    setCookies,
  };
}

/** Uses events, because an iterator makes several promises for each chunk. */
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
    // It follows every end, and creating an error is expensive.
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
        // The other side may close a kept-alive connection just when it is reused.
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
 * A list, because Node writes it unchanged, which saves a third of the time of a request. With a
 * list Node adds neither the host nor the credentials of the address.
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

/**
 * An address in the form of Node's client. It is mostly the same for every query, and parsing it
 * takes as long as the request.
 */
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

/**
 * Does the same as the option `signal` of a request, which watches the whole stream. The signal
 * belongs to one run, so it may keep its listener.
 */
function endWith(signal: AbortSignal, sent: ClientRequest): void {
  const end = (): void =>
    void sent.destroy(new DOMException('The operation was aborted', 'AbortError'));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
}

/** The decompressed body. A truncated body is an error of the stream. */
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
