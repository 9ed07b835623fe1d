import { findPii } from '../kit/pii.ts';
import type { Trace } from '../trace/model.ts';

/** Fields whose values are secrets whatever they look like. */
const SECRET_KEY =
  /^(?:.{0,60}[-_.])?(?:authorization|cookie|password|passwd|passphrase|pwd|secret|api[-_]?key|access[-_]?key|secret[-_]?key|access[-_]?token|refresh[-_]?token|id[-_]?token|auth[-_]?token|session[-_]?token|bearer|private[-_]?key|credentials?)$|^token$|(?:Password|Secret|ApiKey|AccessKey|SecretKey|AccessToken|RefreshToken|AuthToken|PrivateKey)$/i;
/** Secrets that are in running text after their name. */
const SECRET_TEXT =
  /((?:authorization|password|passwd|secret|api[-_ ]?key|access[-_ ]?token|token)["']?\s{0,5}[:=]\s{0,5}["']?(?:bearer\s)?)([^\s"',;}&]{6,500})/gi;
/** The user and the password in an address: `postgres://user:password@host`. */
const URL_LOGIN = /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,200}:)([^\s/@]{1,200})(?=@)/gi;
const BASIC = /\b(basic\s+)([A-Za-z0-9+/]{8,2000}={0,2})(?![A-Za-z0-9])/gi;
const BEARER = /\b(bearer\s+)([A-Za-z0-9._~+/-]{16,2000}=*)/gi;
const JWT = /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g;

/** "Basic functionality" is not a login: what is encoded must hold a colon. */
const isLogin = (code: string): boolean =>
  /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(code, 'base64').toString('latin1'));

export interface RedactOptions {
  /** Personal data too; true when left out. */
  readonly personal?: boolean;
  /** Also names of people, as far as two capitalized words tell them: it takes place names along. */
  readonly names: boolean;
}

export interface Redacted {
  readonly trace: Trace;
  /** How many values were masked, by what they were. */
  readonly masked: ReadonlyMap<string, number>;
}

/** Masks secrets and personal data in every text of a trace, keys of objects too. Numbers and the trace's own words stay. */
export function redactTrace(trace: Trace, options: RedactOptions): Redacted {
  const masked = new Map<string, number>();
  const mask = (type: string): string => {
    masked.set(type, (masked.get(type) ?? 0) + 1);
    return `[${type}]`;
  };
  const inText = (text: string): string => {
    const secretless = text
      .replace(PRIVATE_KEY, () => mask('secret'))
      .replace(JWT, () => mask('secret'))
      .replace(URL_LOGIN, (_, before: string) => `${before}${mask('secret')}`)
      .replace(BASIC, (whole, before: string, code: string) => (isLogin(code) ? `${before}${mask('secret')}` : whole))
      .replace(BEARER, (_, before: string) => `${before}${mask('secret')}`)
      .replace(SECRET_TEXT, (_, before: string) => `${before}${mask('secret')}`);
    if (options.personal === false) return secretless;
    const spans = findPii(secretless, { names: options.names ? 'pattern' : 'off' }).toSorted(
      (a, b) => a.start - b.start,
    );
    let out = '';
    let at = 0;
    for (const { type, start, end } of spans) {
      out += secretless.slice(at, start) + mask(type);
      at = end;
    }
    return out + secretless.slice(at);
  };
  const visit = (value: unknown, key: string | undefined): unknown => {
    if (key !== undefined && SECRET_KEY.test(key) && value !== null && typeof value !== 'object' && value !== '')
      return typeof value === 'number' || typeof value === 'string' ? mask('secret') : value;
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map((item) => visit(item, key));
    if (typeof value !== 'object' || value === null) return value;
    const copy: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value))
      Object.defineProperty(copy, inText(name), {
        value: visit(inner, name),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    return copy;
  };
  // What the program itself wrote stays readable: only what agents, tools and people said is masked.
  const { schema, captured, source, ...said } = trace;
  const clean = visit(said, undefined) as Omit<Trace, 'schema' | 'captured' | 'source'>;
  return { trace: { ...clean, schema, captured, source }, masked };
}
