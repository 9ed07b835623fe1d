import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pageWith } from '@agentci/reporters/html';
import { PAGE_SCHEMA } from '@agentci/results';
import { answerLabels } from '../label/label-routes.ts';
import type { LabelingSession } from '../label/labeling-session.ts';
import type { RunLibrary } from './run-library.ts';

const HOST = '127.0.0.1';

export interface ViewServer {
  /** Includes the token that every request needs. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

interface ViewOptions {
  readonly library: RunLibrary;
  readonly port: number;
  readonly version: string;
  /** Serves the labeling page instead, without the judge's verdicts. */
  readonly labeling?: { readonly labels: LabelingSession; readonly page: string };
}

/**
 * Serves the report page of stored runs on the loopback interface. The token in the path keeps out
 * other users and pages. The `Host` check prevents DNS rebinding.
 */
export async function startViewServer(options: ViewOptions): Promise<ViewServer> {
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    answer(request, response, { ...options, port, token }).catch((error: Error) =>
      send(response, 500, { error: error.message }),
    );
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${port}/${token}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { library, version, labeling, port, token }: ViewOptions & { readonly token: string },
): Promise<void> {
  if (request.headers.host !== `${HOST}:${port}` && request.headers.host !== `localhost:${port}`)
    return send(response, 403, { error: 'this server answers to 127.0.0.1 only' });
  // Joined, not resolved: `//host` would be parsed as another server.
  const url = new URL(`http://${HOST}${request.url ?? '/'}`);
  const [, given = '', ...path] = url.pathname.split('/');
  if (!isSame(given, token))
    return send(response, 403, { error: 'use the whole address that agentci view printed' });
  if (labeling !== undefined && path.length > 0) {
    if (path.join('/') === '') return sendPage(response, labeling.page);
    const found = await answerLabels(labeling.labels, {
      request,
      path: path.map(decoded),
      search: url.searchParams,
    });
    return send(response, found.status, found.body);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response, 405, { error: 'this server only shows' });
  if (path.length === 0) {
    response.writeHead(307, { ...HEADERS, Location: `/${token}/` }).end();
    return;
  }
  if (path.join('/') === '') {
    const page = [...pageWith({ schema: PAGE_SCHEMA, version, live: true, notes: [] })].join('');
    return sendPage(response, page);
  }
  const found = await lookUp(library, path, url.searchParams);
  send(response, found === undefined ? 404 : 200, found ?? { error: 'not found' });
}

async function lookUp(
  library: RunLibrary,
  path: readonly string[],
  search: URLSearchParams,
): Promise<unknown> {
  const [api, what, id, more] = path.map(decoded);
  if (api !== 'api') return undefined;
  if (what === 'runs' && path.length === 2) return library.list();
  if (what === 'run' && id !== undefined && path.length === 3)
    return library.update(id, Math.max(0, Math.trunc(Number(search.get('from')) || 0)));
  if (what === 'run' && id !== undefined && more === 'evidence' && path.length === 4)
    return library.evidence(id, search.get('id') ?? '');
  if (what === 'run' && id !== undefined && more === 'result' && path.length === 4)
    return library.result(id, search.get('id') ?? '');
  if (what === 'trends' && path.length === 2)
    return library.trends(search.get('agent') ?? '', search.get('branch') || undefined);
  if (what === 'versions' && path.length === 2) return library.versions();
  if (what === 'compare' && path.length === 2)
    return library.compare(search.get('before') ?? '', search.get('after') ?? '');
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const HEADERS = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

const sendPage = (response: ServerResponse, page: string): void =>
  void response
    .writeHead(200, { ...HEADERS, 'Content-Type': 'text/html; charset=utf-8' })
    .end(page);

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return void response.end();
  response
    .writeHead(status, { ...HEADERS, 'Content-Type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(body));
}
