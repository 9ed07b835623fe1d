import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ChaosRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export type Behaviour = (request: ChaosRequest, response: ServerResponse) => void | Promise<void>;

/** A provider with configurable faults. */
export async function startChaos(behave: Behaviour): Promise<{
  readonly url: string;
  readonly requests: readonly ChaosRequest[];
  readonly close: () => Promise<void>;
}> {
  const requests: ChaosRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    response.on('error', () => {});
    try {
      for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return;
    }
    const request: ChaosRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      rawHeaders: incoming.rawHeaders,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    requests.push(request);
    await behave(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Streams pieces one by one with a delay in milliseconds. */
export const slowly =
  (pieces: readonly (string | Buffer)[], gapMs: number, type = 'text/event-stream'): Behaviour =>
  async (_, response) => {
    response.writeHead(200, { 'content-type': type });
    for (const piece of pieces) {
      response.write(piece);
      await sleep(gapMs);
    }
    response.end();
  };
