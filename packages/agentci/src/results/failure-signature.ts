/**
 * What is the same in two failures with one cause. Messages of our own checks are fixed sentences around literals: without
 * the literals they say what was expected and where. Errors are written by other people's programs: what they call
 * themselves is the class, whatever is written around it.
 */

/** Causes that programs word in many ways. The first that fits counts: the more specific ones are first. */
const CAUSES: readonly (readonly [string, RegExp])[] = [
  ['rate limited', /\b429\b|rate.?limit|too many requests|quota exceeded|\boverloaded(?:_error)?\b/i],
  [
    'not authorized',
    /\b40[13]\b|unauthori[sz]ed|forbidden by the|invalid.{0,12}api.?key|authentication.?error|permission.?denied/i,
  ],
  ['connection refused', /\bECONNREFUSED\b|connection refused|actively refused/i],
  ['connection reset', /\bECONNRESET\b|\bEPIPE\b|connection reset|socket hang ?up|other side closed|broken pipe/i],
  ['host not found', /\bENOTFOUND\b|\bEAI_AGAIN\b|getaddrinfo|name or service not known|could not resolve host/i],
  ['out of time', /\bETIMEDOUT\b|\bESOCKETTIMEDOUT\b|timed? ?out|deadline exceeded|took longer than|TimeoutError/i],
  ['out of memory', /\bENOMEM\b|out of memory|heap limit|MemoryError|\bOOM\b/i],
  ['server error', /\bHTTP 5\d\d\b|\b50[0234]\b|internal server error|bad gateway|service unavailable/i],
  ['program not found', /\bENOENT\b.*spawn|spawn \S+ ENOENT|command not found|was not found on/i],
];

/** A name that programs give to an error: `KeyError`, `openai.BadRequestError`, `TypeError`. */
const CLASS = /\b(?:[a-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Warning|Fault|Failure|Interrupt|Exit|Miss))\b/g;

/** The class of an error: its cause where it is a common one, else what it calls itself and says of itself. */
export function errorClass(message: string): string {
  // Of a chain of errors the last one is the cause; what is before it is what it passed through.
  const named = [...message.matchAll(CLASS)].at(-1);
  const cause = CAUSES.find(([, pattern]) => pattern.test(message));
  if (cause !== undefined) return cause[0];
  if (named === undefined) return withoutLiterals(message);
  const said = message.slice(named.index + named[0].length).split('\n', 1)[0]!;
  return `${named[1]!}${withoutLiterals(said).replace(/^[\s:]+/, ': ')}`.replace(/: $/, '');
}

const QUOTED = /"(?:[^"\\]|\\.)*"|“[^”]*”|'(?:[^'\\\n]|\\.)*'(?!\w)|`[^`]*`/g;
const PATHS = /(?:\/[\w.@~-]+){2,}\/?|\b[A-Za-z]:\\[\w.\\-]+|\bhttps?:\/\/\S+/g;
const IDS =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|\b[a-z]+_[A-Za-z0-9]{12,}\b/g;
const NUMBERS = /[-+]?(?:\$ ?)?\d+(?:[.,:]\d+)*(?:e[-+]?\d+)?(?:\s?%)?/g;
const LONGEST = 2000;

/** A sentence without what differs from query to query: quoted texts, numbers, ids, addresses; plural and singular alike. */
export function withoutLiterals(text: string): string {
  return text
    .slice(0, LONGEST)
    .replace(QUOTED, '…')
    .replace(PATHS, '…')
    .replace(IDS, '…')
    .replace(NUMBERS, '#')
    .replace(/…(?:(?:,| and|;| ·) ?…)+(?: and # more)?/g, '…')
    .replace(/\b([a-z]{3,}?)(?:ies|y)\b/g, '$1y')
    .replace(/\b([a-z]{3,}?)s\b/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
