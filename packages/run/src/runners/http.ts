import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import type { RunnerConfig } from '@agentci/spec';
import { CookieJar, withCookies } from './cookie-jar.ts';
import { filledBody, filledText, filledTexts } from './fill-texts.ts';
import { sendRequest } from './http-request.ts';
import { responseOutput } from './http-response.ts';
import type { Runner, RunnerEnvironment, RunOutput, RunRequest } from './runner.ts';

/**
 * Asks an HTTP agent. Header values may name environment variables as `${NAME}`, and are never
 * printed.
 */
export function createHttpRunner(
  config: Extract<RunnerConfig, { kind: 'http' }>,
  around: RunnerEnvironment,
): Runner {
  const { http } = config;
  const env = { ...around.env, ...config.env };
  const url = fillEnvironment(http.url, env, 'url');
  const named = [...headersOf(http.headers, env)];
  if (around.watch !== undefined) refuseTraceparent(named);
  const values = named.map(([, value]) => value);
  const plain = Object.fromEntries(named);
  const hasBody = http.method !== 'GET' && http.method !== 'HEAD';
  const headersFor = (
    request: RunRequest,
    kept: string | undefined,
    extra: Readonly<Record<string, string>> = {},
  ) => {
    // Mostly the same for every query.
    const texts = filledTexts(values, request);
    const filled =
      texts === values ? plain : Object.fromEntries(named.map(([name], i) => [name, texts[i]!]));
    return { ...withCookies(filled, kept), ...extra };
  };
  const runWith = async (
    request: RunRequest,
    cookies: CookieJar | undefined,
  ): Promise<RunOutput> => {
    const agentWatch = await around.watch?.open();
    try {
      const started = performance.now();
      const address = filledText(url, request, encodeURIComponent);
      const kept = cookies?.headerFor(address);
      const received = await sendRequest({
        url: address,
        method: http.method,
        headers: headersFor(request, kept, agentWatch?.headers),
        signal: request.signal,
        body: hasBody ? JSON.stringify(filledBody(http.body, request)) : undefined,
      });
      cookies?.keep(received.setCookies ?? [], address);
      const output = responseOutput(received, { ...http, acceptsErrors: config.acceptsErrors });
      const wallMs = performance.now() - started;
      const seen = await agentWatch?.end('itself');
      return { ...output, wallMs, seen: seen ?? output.seen };
    } finally {
      await agentWatch?.close();
    }
  };
  return {
    run: (request) => runWith(request, undefined),
    open: async () => {
      const cookies = new CookieJar();
      return { run: (request) => runWith(request, cookies), close: async () => {} };
    },
    close: async () => {},
  };
}

function refuseTraceparent(headers: readonly (readonly [string, string])[]): void {
  if (headers.some(([name]) => name === 'traceparent'))
    throw new UserError(
      'SPEC_VALUE',
      'runner.http.headers: "traceparent" is what tells the spans of one query from those of others, so capture sets it; leave it out',
    );
}

function headersOf(
  written: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): Headers {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream, application/x-ndjson, text/plain',
  });
  for (const [name, value] of Object.entries(written)) {
    const filled = fillEnvironment(value, env, `headers.${name}`);
    try {
      headers.set(name, filled);
    } catch {
      throw new UserError(
        'SPEC_VALUE',
        `runner.http.headers: "${name}" is not a valid header name, or its value is not a valid header value`,
      );
    }
  }
  return headers;
}

function fillEnvironment(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  where: string,
): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined) {
      throw new UserError(
        'RUNNER_ENV_MISSING',
        `runner.http.${where} needs the environment variable ${name}, which is not set`,
      );
    }
    SECRETS.add([{ name, value }]);
    return value;
  });
}
