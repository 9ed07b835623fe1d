import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ScriptedReply, startScriptedModel } from '@agentci/scripted-model';

/** A request with its response, as proxies record them. A streamed response is its text. */
export interface Exchange {
  readonly method: string;
  readonly uri: string;
  readonly request: unknown;
  readonly status: number;
  readonly response: unknown;
}

export interface RecordedModel {
  /** The base URL for SDKs, with `/v1`. */
  readonly url: string;
  readonly exchanges: readonly Exchange[];
}

/** Runs a function against the scripted model through a recording proxy. */
export async function withModel<T>(
  script: readonly ScriptedReply[],
  use: (model: RecordedModel) => Promise<T>,
): Promise<T> {
  const model = await startScriptedModel({ script });
  const upstream = model.url.replace(/\/v1$/, '');
  const exchanges: Exchange[] = [];
  const proxy = await listen(async (incoming, body) => {
    const response = await fetch(`${upstream}${incoming.url}`, {
      method: incoming.method ?? 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    exchanges.push({
      method: incoming.method ?? 'POST',
      // The port differs between runs. The path identifies the protocol.
      uri: `http://model.test${incoming.url}`,
      request: JSON.parse(body),
      status: response.status,
      response: type.includes('json') ? JSON.parse(text) : text,
    });
    return { status: response.status, type, body: text };
  });
  try {
    return await use({ url: `${proxy.url}/v1`, exchanges });
  } finally {
    await proxy.close();
    await model.close();
  }
}

export interface Loopback {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** A loopback server that answers every request with one function. */
export async function listen(
  answer: (
    incoming: IncomingMessage,
    body: string,
    bytes: Buffer,
  ) => Promise<{ status?: number; type?: string; body?: string }>,
): Promise<Loopback> {
  const server: Server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    try {
      const {
        status = 200,
        type = 'application/json',
        body = '{}',
      } = await answer(incoming, bytes.toString('utf8'), bytes);
      // SDKs keep response headers, and a date would differ in every run.
      response.sendDate = false;
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    } catch (error) {
      response.writeHead(500);
      response.end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
