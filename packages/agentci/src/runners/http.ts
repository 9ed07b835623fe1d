import { UserError } from '../kit/user-error.ts';
import { classifyError, errorFacts, isRetryableStatus, parseRetryAfter } from './classify-error.ts';
import { MAX_OUTPUT_BYTES } from './command.ts';
import type { RunnerConfig } from './config.ts';
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
      const response = await send(url, {
        method: http.method,
        headers,
        signal: request.signal,
        ...(hasBody ? { body: JSON.stringify(requestBody(http.body, request)) } : {}),
      });
      const text = await readText(response);
      if (!response.ok) {
        throw new AgentError(
          isRetryableStatus(response.status) ? 'infra' : 'agent',
          `the agent answered HTTP ${response.status}${text.trim() ? `: ${text.trim().slice(0, 300)}` : ''}`,
          { retryAfterMs: parseRetryAfter(response.headers.get('retry-after')) },
        );
      }
      return { value: pick(text, http), wallMs: performance.now() - started };
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

async function readText(response: Response): Promise<string> {
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
  return Buffer.concat(chunks).toString('utf8');
}

function pick(text: string, http: { answer?: string; trace?: string }): unknown {
  if (http.answer === undefined && http.trace === undefined) {
    if (text.trim() === '') throw new AgentError('agent', 'the agent sent an empty body');
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
  const values: Record<string, unknown> = {
    query: request.query,
    id: request.id,
    run: request.run,
    metadata: request.metadata ?? {},
  };
  if (template === undefined) return values;
  const fill = (node: unknown): unknown => {
    if (typeof node === 'string') {
      const whole = /^\{\{(query|id|run|metadata)\}\}$/.exec(node);
      if (whole) return values[whole[1]!];
      return node.replace(/\{\{(query|id|run|metadata)\}\}/g, (_, name: string) => {
        const value = values[name];
        return typeof value === 'string' ? value : JSON.stringify(value);
      });
    }
    if (Array.isArray(node)) return node.map(fill);
    if (node !== null && typeof node === 'object') {
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, fill(value)]));
    }
    return node;
  };
  return fill(template);
}

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
