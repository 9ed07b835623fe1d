/**
 * Finds the same signature for failures with the same cause. Our own messages are fixed sentences
 * around literals. Errors come from other programs, so their class name or a status code in its
 * usual place identifies them. Other numbers and words say nothing.
 */

/** Common names of errors: exception classes, system errors, API error types. */
const NAMES: readonly (readonly [string, RegExp])[] = [
  [
    'rate limited',
    /^(?:RateLimit\w*|TooManyRequests\w*|Throttl\w*|rate_limit\w*|overloaded_error|insufficient_quota)$/,
  ],
  [
    'not authorized',
    /^(?:Authentication\w*|Unauthori[sz]ed\w*|PermissionDenied\w*|authentication_error|permission_error|invalid_api_key)$/,
  ],
  ['connection refused', /^(?:ECONNREFUSED|ConnectionRefused\w*)$/],
  [
    'connection reset',
    /^(?:ECONNRESET|EPIPE|ConnectionReset\w*|BrokenPipe\w*|ConnectionAborted\w*)$/,
  ],
  ['host not found', /^(?:ENOTFOUND|EAI_AGAIN|UnknownHost\w*)$/],
  [
    'out of time',
    /^(?:ETIMEDOUT|ESOCKETTIMEDOUT|\w*Time(?:d)?[oO]ut(?:Error|Exception)?|timeout_error)$/,
  ],
  ['out of memory', /^(?:ENOMEM|MemoryError|OutOfMemory\w*)$/],
  ['server error', /^(?:InternalServer\w*|ServiceUnavailable\w*|BadGateway\w*|api_error)$/],
  ['context too long', /^context_length_exceeded$/],
];

/** Phrases for errors without a telling name. Whole phrases, never single words. */
const PHRASES: readonly (readonly [string, RegExp])[] = [
  [
    'rate limited',
    /too many requests|rate.?limit(?:ed|ing)?(?: was| is)? (?:exceeded|reached|hit)|^rate.?limited|quota exceeded|exceeded your current quota/i,
  ],
  ['not authorized', /\bunauthori[sz]ed\b|(?:invalid|incorrect|missing).{0,12}api.?key/i],
  ['connection refused', /connection refused|actively refused/i],
  ['connection reset', /connection reset|socket hang ?up|other side closed|broken pipe/i],
  ['host not found', /getaddrinfo|name or service not known|could not resolve host/i],
  [
    'out of time',
    /timed[ -]?out|(?:request|connection|connect|read|gateway|socket|operation|query|agent) time-?out|deadline exceeded|took longer than/i,
  ],
  ['out of memory', /out of memory|heap limit/i],
  ['server error', /internal server error|bad gateway|service unavailable/i],
  ['context too long', /maximum context length|context window|prompt is too long/i],
  ['program not found', /spawn \S+ ENOENT|command not found|was not found on/i],
];

const STATUSES: readonly (readonly [string, RegExp])[] = [
  ['rate limited', /^429$/],
  ['not authorized', /^40[13]$/],
  ['server error', /^50[0234]$/],
];
/** `HTTP 429`, `status code: 429`, `Error code: 429`, `429 Too Many Requests`, `(429)` at the end. */
const STATUS =
  /\b(?:HTTP(?:\/\d(?:\.\d)?)?|status|status[ _]code|error code|response code)["']?\s*[:=]?\s*(\d{3})\b|^(\d{3})(?=\s+[A-Z][a-z]|:|$)|\((\d{3})\)\.?$/i;

/** An error class name: `KeyError`, `openai.BadRequestError`, `TypeError`. */
const CLASS =
  /\b(?:[a-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Warning|Fault|Failure|Interrupt|Exit|Miss|Timeout))\b|\b(E[A-Z]{4,}(?:_[A-Z]+)?)\b/g;
/** Classes that only say that something went wrong. */
const VAGUE =
  /^(?:Error|Exception|RuntimeError|RuntimeException|\w*(?:API|Api|HTTP|Http|Fetch|Axios|Agent|Tool|Request|Response|Connection|Network|Client|Bad|Status)\w*(?:Error|Exception)|OSError|IOError|IOException)$/;
/** The JSON error type of an API, and its message. */
const JSON_TYPE = /"(?:type|code)"\s*:\s*"([a-z][a-z_]{2,60})"/g;
const JSON_MESSAGE = /"message"\s*:\s*"((?:[^"\\]|\\.){0,500})"/;
const LONGEST = 2000;

/** The class of an error: a common cause if known, else its own name and message. */
export function errorClass(given: string): string {
  const message =
    given.length > 2 * LONGEST ? given.slice(0, LONGEST) + given.slice(-LONGEST) : given;
  // The last error of a chain is the cause.
  const named = [...message.matchAll(CLASS)].at(-1);
  const name = named?.[1] ?? named?.[2];
  const byName = causeOf(NAMES, name);
  if (byName !== undefined) return byName;
  const types = [...message.matchAll(JSON_TYPE)]
    .map((match) => match[1]!)
    .filter((type) => type !== 'error');
  for (const type of types) {
    const byType = causeOf(NAMES, type);
    if (byType !== undefined) return byType;
  }
  if (name === undefined || VAGUE.test(name)) {
    const status = STATUS.exec(message);
    const cause =
      causeOf(STATUSES, status?.[1] ?? status?.[2] ?? status?.[3]) ??
      causeOf(PHRASES, bare(message));
    if (cause !== undefined) return cause;
  }
  if (types.length > 0)
    return `${types.at(-1)}: ${withoutLiterals(JSON_MESSAGE.exec(message)?.[1] ?? '')}`;
  if (named === undefined) return withoutLiterals(message);
  const said = message.slice(named.index + named[0].length).split('\n', 1)[0]!;
  return `${name}${withoutLiterals(said).replace(/^[\s:]+/, ': ')}`.replace(/: $/, '');
}

const causeOf = (causes: typeof NAMES, text: string | undefined): string | undefined =>
  text === undefined ? undefined : causes.find(([, pattern]) => pattern.test(text))?.[0];

/** The program's own words, without quotes. */
const bare = (message: string): string => message.replace(QUOTED, '…').replace(PATHS, '…');

const QUOTED = /"(?:[^"\\]|\\.)*"|“[^”]*”|'(?:[^'\\\n]|\\.)*'(?!\w)|`[^`]*`/g;
/** A quoted name of a location: two tools that fail alike are two causes. */
const SITES =
  /\b(tool|function|field|property|argument|parameter|column|agent|server|module|table|rule|policy|metric|step|turn)\s+(["'`])([\w./:-]{1,64})\2/gi;
const PATHS = /(?:\/[\w.@~-]+){2,}\/?|\b[A-Za-z]:\\[\w.\\-]+|\bhttps?:\/\/\S+/g;
const IDS =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|\b[a-z]+_[A-Za-z0-9]{12,}\b|\b[A-Za-z]+(?:-[A-Za-z0-9]+){0,6}-\d[\w-]*\b/g;
const NUMBERS = /[-+]?(?:\$ ?)?\d+(?:[.,:]\d+)*(?:e[-+]?\d+)?(?:\s?%)?/g;
/** Names in a list, whose order says nothing. */
const LISTS = /[\w.*-]{1,64}(?:, [\w.*-]{1,64}){1,50}(?![\w.*-])/g;

/**
 * Removes literals from a sentence: quoted texts, numbers, ids, addresses. Treats plural and
 * singular alike.
 */
export function withoutLiterals(text: string): string {
  return (
    text
      .slice(0, LONGEST)
      // Parser messages differ with the text they parsed.
      .replace(/\b(is not (?:valid )?JSON)\b[\s\S]*/, '$1')
      .replace(/^\/.*\/ (?=is (?:not )?found\b)/s, '… ')
      .replace(SITES, '$1 $3')
      .replace(QUOTED, '…')
      .replace(PATHS, '…')
      .replace(IDS, '…')
      .replace(LISTS, (list) => [...new Set(list.split(', '))].sort().join(', '))
      .replace(NUMBERS, '#')
      .replace(/…(?:(?:,| and|;| ·) ?…)+(?: and # more)?/g, '…')
      .replace(/\b([a-z]{3,}?)(?:ies|y)\b/g, '$1y')
      .replace(/\b([a-z]{3,}?)s\b/g, '$1')
      .replace(/\s+/g, ' ')
      .trim()
  );
}
