import type { IncomingMessage } from 'node:http';
import type { LabelingSession } from './labeling-session.ts';

const MAX_BODY_BYTES = 64 * 1024;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const refused = (status: number, error: string): Answer => ({ status, body: { error } });

/**
 * Handles requests of the labeling page: the state, one answer, saving a label. The caller has
 * checked the token.
 */
export async function answerLabels(
  session: LabelingSession,
  {
    request,
    path,
    search,
  }: { request: IncomingMessage; path: readonly (string | undefined)[]; search: URLSearchParams },
): Promise<Answer> {
  const [api, what, more] = path;
  if (api !== 'api' || what !== 'labels' || path.length > 3) return refused(404, 'not found');
  if (request.method === 'POST' && more === undefined) return save(session, request);
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refused(405, 'labels are sent to api/labels');
  if (more === undefined) return { status: 200, body: session.state() };
  const item = more === 'item' ? await session.item(search.get('id') ?? '') : undefined;
  return item === undefined ? refused(404, 'not found') : { status: 200, body: item };
}

async function save(session: LabelingSession, request: IncomingMessage): Promise<Answer> {
  const { origin, host } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`)
    return refused(403, 'labels come from this page alone');
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    return refused(415, 'a label is sent as JSON');
  const text = await readBody(request);
  if (text === undefined) return refused(413, 'the label is too large');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused(400, 'the label is not JSON');
  }
  const saved = await session.save(value);
  return typeof saved === 'string' ? refused(400, saved) : { status: 200, body: saved };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
