import { AgentError } from './runner.ts';

/** The fields of a thrown error that survive a thread or process boundary. */
export interface ErrorFacts {
  readonly name?: string | undefined;
  readonly message: string;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly retryAfter?: string | undefined;
}

const CONNECTION_CODES = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_SOCKET',
]);
// Class names of SDK errors, matched whole, so that a custom "NoTimeoutError" does not match.
const INFRA_NAME =
  /^(API)?(RateLimit|Timeout|Connection|ConnectionTimeout|InternalServer|ServiceUnavailable|Overloaded)(Error|Exception)?$/;

/** Decides whether a failure comes from the infrastructure (retry) or the agent (do not retry). */
export function classifyError(
  facts: ErrorFacts,
  context: { stderr?: string | undefined; prefix?: string } = {},
): AgentError {
  const infra =
    isRetryableStatus(facts.status) ||
    (facts.code !== undefined && CONNECTION_CODES.has(facts.code)) ||
    (facts.name !== undefined && INFRA_NAME.test(facts.name));
  const label = facts.name && facts.name !== 'Error' ? `${facts.name}: ` : '';
  return new AgentError(
    infra ? 'infra' : 'agent',
    `${context.prefix ?? ''}${label}${facts.message}`,
    {
      stderr: context.stderr,
      retryAfterMs: parseRetryAfter(facts.retryAfter),
    },
  );
}

export const isRetryableStatus = (status: number | undefined): boolean =>
  status !== undefined && (status === 408 || status === 429 || status >= 500);

/** `Retry-After` in seconds or as an HTTP date, in milliseconds from `now`. */
export function parseRetryAfter(
  value: string | null | undefined,
  now = Date.now(),
): number | undefined {
  if (value === undefined || value === null || value.trim() === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The facts of any thrown value. */
export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error))
    return { message: typeof error === 'string' ? error : describe(error) };
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const fields = error as Error & {
    code?: unknown;
    status?: unknown;
    statusCode?: unknown;
    headers?: unknown;
  };
  const code = fields.code ?? (cause as { code?: unknown } | undefined)?.code;
  const status = fields.status ?? fields.statusCode;
  return {
    name: error.name,
    message: cause ? `${error.message} (${cause.message})` : error.message,
    code: typeof code === 'string' ? code : undefined,
    status: typeof status === 'number' ? status : undefined,
    retryAfter: header(fields.headers, 'retry-after'),
  };
}

function header(headers: unknown, name: string): string | undefined {
  if (headers === null || typeof headers !== 'object') return undefined;
  const get = (headers as { get?: unknown }).get;
  const value =
    typeof get === 'function'
      ? get.call(headers, name)
      : (headers as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 200) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
