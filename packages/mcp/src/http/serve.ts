import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemErrorText, UserError } from '@agentci/lib/problems';
import { errorReply } from '../message.ts';
import { sendJson } from './relay.ts';

const PATH = '/mcp';
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])$/;

export interface Served {
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves /mcp. On loopback, answers only programs, not web pages that found the port. */
export function serveMcp(
  listen: string | undefined,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Served> {
  const { host, port } = readAddress(listen ?? '127.0.0.1:0');
  const server = createServer((request, response) => {
    const refused = wrongDoor(request, LOOPBACK.test(host));
    if (refused !== undefined) {
      request.resume();
      sendJson(response, refused.status, errorReply(null, -32600, refused.message));
      return;
    }
    handle(request, response);
  });
  // An event stream may be silent for hours.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 120_000;
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new UserError(
          'PORT_TAKEN',
          `cannot listen on ${host}:${port}: ${systemErrorText(error) ?? error.message}`,
          {
            hint: 'choose another address with --listen',
          },
        ),
      ),
    );
    server.listen(port, host.replace(/^\[|\]$/g, ''), () => {
      const { port: actual } = server.address() as AddressInfo;
      resolve({
        url: `http://${host}:${actual}${PATH}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}

function wrongDoor(
  request: IncomingMessage,
  isLocal: boolean,
): { status: number; message: string } | undefined {
  const { host = '', origin } = request.headers;
  // Prevents DNS rebinding: another site's name may resolve to this machine.
  if (isLocal && !LOOPBACK.test(host.replace(/:\d+$/, '')))
    return { status: 403, message: 'this host name is not ours' };
  if (origin !== undefined && !isLoopbackOrigin(origin))
    return { status: 403, message: 'web pages are not served' };
  if (new URL(request.url ?? '/', 'http://x').pathname !== PATH)
    return { status: 404, message: `only ${PATH} is served` };
  return undefined;
}

function isLoopbackOrigin(origin: string): boolean {
  try {
    return LOOPBACK.test(new URL(origin).hostname);
  } catch {
    return false;
  }
}

function readAddress(text: string): { host: string; port: number } {
  const match = /^(?:(\[[\da-f:]+\]|[\w.-]+):)?(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535)
    throw new UserError('PORT_TAKEN', `"${text}" is not an address`, {
      hint: 'write it as 127.0.0.1:7300',
    });
  return { host: match[1] ?? '127.0.0.1', port };
}

/** Parses and checks the address of a server. */
export function readServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UserError('OPTION_INVALID', `"${text}" is not an address of an MCP server`, {
      hint: 'write it as https://host/mcp',
    });
  return url;
}
