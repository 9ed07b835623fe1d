import { API_KEY } from './pii.ts';

/** Secrets that are in running text after their name. */
const NAMED =
  /((?:authorization|password|passwd|secret|api[-_ ]?key|access[-_ ]?token|token)["']?\s{0,5}[:=]\s{0,5}["']?(?:bearer\s)?)([^\s"',;}&]{6,500})/gi;
/** The user and the password in an address: `postgres://user:password@host`. */
const URL_LOGIN = /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,200}:)([^\s/@]{1,200})(?=@)/gi;
const BASIC = /\b(basic\s+)([A-Za-z0-9+/]{8,2000}={0,2})(?![A-Za-z0-9])/gi;
const BEARER = /\b(bearer\s+)([A-Za-z0-9._~+/-]{16,2000}=*)/gi;
const JWT = /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}/g;
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g;
/** One that was cut off: what follows its first line is the key all the same. */
const OPEN_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{1,10000}/g;

/** "Basic functionality" is not a login: what is encoded must hold a colon. */
const isLogin = (code: string): boolean =>
  /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(code, 'base64').toString('latin1'));

/** A secret whose form, or the word before it, gives it away: the pattern has what is before it and the secret itself. */
interface SecretForm {
  readonly name: string;
  readonly pattern: RegExp;
  readonly isOne: (before: string, secret: string) => boolean;
}

/** What no address, no name and no placeholder for a password has; a match with one of these spans parts of a document. */
const NOT_IN_LOGINS = /["'\\,<>{}[\]$*]/;

/** Forms that are sure enough to refuse a document for. Words such as "token:" are not: replies have them all the time. */
export const SURE_FORMS: readonly SecretForm[] = [
  {
    name: 'url_password',
    pattern: URL_LOGIN,
    isOne: (before, secret) => !NOT_IN_LOGINS.test(before + secret),
  },
  { name: 'basic_login', pattern: BASIC, isOne: (_, code) => isLogin(code) },
  { name: 'bearer_token', pattern: BEARER, isOne: (_, token) => /\d/.test(token) },
];

/**
 * A text without the secrets that their form, or the words before them, give away. `mask` is given each secret, and gives
 * what is put in its place.
 */
export function maskSecrets(text: string, mask: (secret: string) => string): string {
  return text
    .replace(PRIVATE_KEY, (secret) => mask(secret))
    .replace(OPEN_KEY, (secret) => mask(secret))
    .replace(JWT, (secret) => mask(secret))
    .replace(URL_LOGIN, (_, before: string, secret: string) => `${before}${mask(secret)}`)
    .replace(BASIC, (whole, before: string, code: string) =>
      isLogin(code) ? `${before}${mask(code)}` : whole,
    )
    .replace(BEARER, (_, before: string, secret: string) => `${before}${mask(secret)}`)
    .replace(NAMED, (_, before: string, secret: string) => `${before}${mask(secret)}`);
}

/** As `maskSecrets`, and the keys of providers, clouds and code hosts as well. */
export const maskAllSecrets = (text: string, mask: (secret: string) => string): string =>
  maskSecrets(
    text.replace(API_KEY, (secret) => mask(secret)),
    mask,
  );
