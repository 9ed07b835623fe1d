import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Servers that never finish a response. */
export const SLOW_SERVERS = {
  'never answers': () => {},
  'sends headers and then nothing': (response: ServerResponse) =>
    void response.writeHead(200).write('a'),
  'sends a byte now and then, for ever': (response: ServerResponse) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('a'), 20);
    response.on('close', () => clearInterval(timer));
  },
} as const;

/** Starts one. Returns its address and its number of requests. */
export async function serveSlowly(
  how: keyof typeof SLOW_SERVERS,
): Promise<{ url: string; taken: () => number } & AsyncDisposable> {
  let taken = 0;
  const server: Server = createServer((request, response) => {
    taken++;
    request.resume();
    SLOW_SERVERS[how](response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    taken: () => taken,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
