import { UserError } from '../kit/user-error.ts';
import { classifyError, errorFacts, isRetryableStatus, parseRetryAfter } from './classify-error.ts';
import { MAX_OUTPUT_BYTES } from './command.ts';
import { PLACEHOLDER, type RunnerConfig } from './config.ts';
import { AgentError, type Runner, type RunnerEnvironment, type RunRequest } from './runner.ts';

/** Asks an agent behind HTTP. Header values may name environment variables as `${NAME}`; they are never printed. */
export function createHttpRunner(config: Extract<RunnerConfig, { kind: 'http' }>, around: RunnerEnvironment): Runner {
  const { http } = config;
  const env = { ...around.env, ...config.env };
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json, text/plain' });
  for (const [name, value] of Object.entries(http.headers)) {
    const filled = fillEnvironment(value, env, `headers.${name}`);
    try {
      headers.set(name, filled);
    } catch {
      throw new UserError(
        'RUNNER_HEADER',
        `runner.http.headers: "${name}" is not a header, or its value cannot be one`,
      );
    }
  }
  const url = fillEnvironment(http.url, env, 'url');
  const hasBody = http.method !== 'GET' && http.method !== 'HEAD';
  return {
    run: async (request) => {
      const started = performance.now();
      const response = await send(fillUrl(url, request), {
        method: http.method,
        headers,
        signal: request.signal,
        ...(hasBody ? { body: JSON.stringify(requestBody(http.body, request)) } : {}),
      });
      const body = await readBody(response);
      if (!response.ok) {
        const text = body.toString('utf8');
        throw new AgentError(
          isRetryableStatus(response.status) ? 'infra' : 'agent',
          `the agent answered HTTP ${response.status}${text.trim() ? `: ${text.trim().slice(0, 300)}` : ''}`,
          { retryAfterMs: parseRetryAfter(response.headers.get('retry-after')) },
        );
      }
      return { value: pick(decode(body, response), http), wallMs: performance.now() - started };
    },
    close: async () => {},
  };
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const classified = classifyError(errorFacts(error), { prefix: 'the request failed: ' });
    // fetch reports every network failure as a TypeError; all of them are worth another try.
    throw error instanceof TypeError ? new AgentError('infra', classified.message) : classified;
  }
}

async function readBody(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES)
        throw new AgentError('agent', `the agent sent more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AgentError) throw error;
    // The connection was lost in the middle of the answer: the network's failure, not the agent's.
    throw new AgentError('infra', `the answer was cut off: ${errorFacts(error).message}`);
  }
  return Buffer.concat(chunks);
}

function decode(body: Buffer, response: Response): string {
  try {
    return new TextDecoder(charsetOf(response), { fatal: true }).decode(body);
  } catch {
    throw new AgentError('agent', `the agent sent bytes that are not ${charsetOf(response)} text`);
  }
}

/** What the response says of itself; UTF-8 unless it names another encoding that is known here. */
function charsetOf(response: Response): string {
  const named = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(response.headers.get('content-type') ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(named).encoding.toUpperCase();
  } catch {
    return 'UTF-8';
  }
}

/** A login or error page sent with status 200 would please every check of what must not be in an answer. */
const isHtmlPage = (text: string): boolean => /^\s*(?:<!doctype html|<html)[\s>]/i.test(text);

function pick(text: string, http: { answer?: string; trace?: string }): unknown {
  if (http.answer === undefined && http.trace === undefined) {
    if (text.trim() === '') throw new AgentError('agent', 'the agent sent an empty body');
    if (text.trim() === 'null') throw new AgentError('agent', 'the agent sent null');
    if (isHtmlPage(text))
      throw new AgentError('agent', `the agent sent an HTML page instead of an answer${titleOf(text)}`);
    return text;
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new AgentError('agent', `the agent did not send JSON: ${text.trim().slice(0, 200)}`);
  }
  const pointer = http.trace ?? http.answer ?? '';
  const value = resolvePointer(body, pointer);
  if (value === undefined || value === null) {
    throw new AgentError('agent', `the response has nothing at "${pointer}" (it has ${keysOf(body)})`);
  }
  if (http.trace !== undefined) return value;
  return { answer: typeof value === 'string' ? value : JSON.stringify(value) };
}

function titleOf(page: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(page)?.[1]?.trim();
  return title ? `: "${title.slice(0, 100)}"` : '';
}

const keysOf = (body: unknown): string =>
  body !== null && typeof body === 'object' ? Object.keys(body).slice(0, 20).join(', ') || 'no keys' : typeof body;

/** RFC 6901: `/choices/0/text`; the empty pointer is the whole document. */
export function resolvePointer(document: unknown, pointer: string): unknown {
  if (pointer === '') return document;
  let current = document;
  for (const part of pointer.replace(/^\//, '').split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** Fills `{{query}}`, `{{id}}`, `{{run}}`, `{{metadata}}`; a string that is just one placeholder takes its value whole. */
function requestBody(template: unknown, request: RunRequest): unknown {
  const values = valuesOf(request);
  if (template === undefined) return values;
  const fill = (node: unknown): unknown => {
    if (typeof node === 'string') {
      const whole = /^\{\{\s*(query|id|run|metadata)\s*\}\}$/.exec(node);
      if (whole) return values[whole[1]!];
      return fillText(node, (name) => asText(values[name]));
    }
    if (Array.isArray(node)) return node.map(fill);
    if (node !== null && typeof node === 'object') {
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, fill(value)]));
    }
    return node;
  };
  return fill(template);
}

const valuesOf = ({ query, id, run, metadata }: RunRequest): Record<string, unknown> => ({
  query,
  id,
  run,
  metadata: metadata ?? {},
});

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const fillText = (text: string, fill: (name: string) => string): string =>
  text.replace(PLACEHOLDER, (_, name: string) => fill(name));

/** In the URL a value is one piece of a path or query string, whatever characters it has. */
const fillUrl = (url: string, request: RunRequest): string =>
  fillText(url, (name) => encodeURIComponent(asText(valuesOf(request)[name])));

function fillEnvironment(text: string, env: Readonly<Record<string, string | undefined>>, where: string): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined) {
      throw new UserError(
        'RUNNER_ENV_MISSING',
        `runner.http.${where} needs the environment variable ${name}, which is not set`,
      );
    }
    return value;
  });
}
