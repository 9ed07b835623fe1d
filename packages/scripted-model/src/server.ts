import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { responses } from './responses.ts';
import type { PlainReply, Protocol, ScriptedReply, ScriptedRequest } from './script.ts';

const PROTOCOLS: readonly Protocol[] = [anthropic, chat, responses, gemini];
const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface ScriptedModel {
  /** `http://127.0.0.1:PORT/v1`, the base URL of every protocol. */
  readonly url: string;
  /** All requests in order. */
  readonly requests: readonly ScriptedRequest[];
  readonly close: () => Promise<void>;
}

type Script =
  | readonly ScriptedReply[]
  | ((request: ScriptedRequest) => ScriptedReply | Promise<ScriptedReply>);

/**
 * Starts a model on loopback that follows the script: a list is used in order and its last reply
 * repeats, a function receives each request. Ids are unique over the lifetime of the server.
 */
export async function startScriptedModel(options: {
  script: Script;
  port?: number;
}): Promise<ScriptedModel> {
  const requests: ScriptedRequest[] = [];
  const server = createServer((incoming, response) => {
    handle(incoming, response, options.script, requests).catch((error: Error) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(`the script failed: ${error.message}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  script: Script,
  requests: ScriptedRequest[],
): Promise<void> {
  const path = (incoming.url ?? '').replace(/\?.*$/, '');
  const protocol = PROTOCOLS.find(({ matches }) => matches(path));
  const body = await readJson(incoming);
  if (incoming.method !== 'POST' || protocol === undefined || body === undefined) {
    send(response, protocol === undefined ? 404 : 400, {
      error: { message: `cannot serve ${incoming.method} ${path}` },
    });
    return;
  }
  const index = requests.length;
  const request: ScriptedRequest = {
    index,
    protocol: protocol.name,
    ...protocol.read(body, path),
    headers: incoming.headers,
    body,
  };
  requests.push(request);
  const reply =
    typeof script === 'function' ? await script(request) : (script[index] ?? script.at(-1));
  if (reply === undefined) throw new Error('the script is empty');
  if (reply.delayMs !== undefined)
    await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
  if (response.destroyed) return;
  perform(response, protocol, request, reply);
}

function perform(
  response: ServerResponse,
  protocol: Protocol,
  request: ScriptedRequest,
  reply: ScriptedReply,
): void {
  if ('hangUp' in reply) response.destroy();
  else if ('wrongSchema' in reply)
    send(response, 200, { content: 1, choices: 1, output: 1, candidates: 1 });
  else if ('truncatedBody' in reply) {
    const text = JSON.stringify(
      protocol.write(plainReply(request, { text: 'this reply breaks off' })),
    );
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(text.slice(0, text.length / 2));
  } else if ('status' in reply) {
    const after: Record<string, string> =
      reply.retryAfter === undefined ? {} : { 'retry-after': String(reply.retryAfter) };
    send(
      response,
      reply.status,
      protocol.error(reply.status, reply.message ?? `scripted ${reply.status}`),
      after,
    );
  } else if (request.stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, data } of protocol.stream(plainReply(request, reply))) {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
    }
    response.end();
  } else send(response, 200, protocol.write(plainReply(request, reply)));
}

type Spoken = Extract<ScriptedReply, { text?: string }>;

const ID_PREFIX = { anthropic: 'msg', chat: 'chatcmpl', responses: 'resp', gemini: 'gen' } as const;

function plainReply(request: ScriptedRequest, reply: Spoken): PlainReply {
  const asked =
    request.system.length + request.messages.reduce((sum, { text }) => sum + text.length, 0);
  const text = reply.text ?? '';
  return {
    id: `${ID_PREFIX[request.protocol]}_${request.index + 1}`,
    model: request.model,
    text,
    toolCalls: (reply.toolCalls ?? []).map((call, i) => ({
      ...call,
      id: `call_${request.index + 1}_${i + 1}`,
    })),
    refusal: reply.refusal,
    cutOff: reply.cutOff ?? false,
    // Four characters per token, so that longer conversations cost more, like real ones.
    usage: reply.usage ?? {
      input: Math.ceil(asked / 4),
      output: Math.max(1, Math.ceil(text.length / 4)),
    },
  };
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function readJson(incoming: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
