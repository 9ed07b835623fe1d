import { API_KEY } from './pii.ts';

/** Secrets that follow their name in prose. */
const NAMED =
  /((?:authorization|password|passwd|secret|api[-_ ]?key|access[-_ ]?token|token)["']?\s{0,5}[:=]\s{0,5}["']?(?:bearer\s)?)([^\s"',;}&]{6,500})/gi;
/** User and password of an address: `postgres://user:password@host`. */
const URL_LOGIN = /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,200}:)([^\s/@]{1,200})(?=@)/gi;
const BASIC = /\b(basic\s+)([A-Za-z0-9+/]{8,2000}={0,2})(?![A-Za-z0-9])/gi;
const BEARER = /\b(bearer\s+)([A-Za-z0-9._~+/-]{16,2000}=*)/gi;
const JWT = /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}/g;
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g;
/** A truncated key, whose remaining lines still are the key. */
const OPEN_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{1,10000}/g;

/** "Basic functionality" is not a login, so the decoded text must contain a colon. */
const isLogin = (code: string): boolean =>
  /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(code, 'base64').toString('latin1'));

/**
 * A secret that its form or preceding word gives away. The pattern captures the prefix and the
 * secret.
 */
interface SecretForm {
  readonly name: string;
  readonly pattern: RegExp;
  readonly isOne: (before: string, secret: string) => boolean;
}

/** Characters that never occur in logins. A match that has one spans parts of a document. */
const NOT_IN_LOGINS = /["'\\,<>{}[\]$*]/;

/**
 * Forms reliable enough to refuse a document. Words such as "token:" are not, because replies often
 * contain them.
 */
export const SURE_FORMS: readonly SecretForm[] = [
  {
    name: 'url_password',
    pattern: URL_LOGIN,
    isOne: (before, secret) => !NOT_IN_LOGINS.test(before + secret),
  },
  { name: 'basic_login', pattern: BASIC, isOne: (_, code) => isLogin(code) },
  { name: 'bearer_token', pattern: BEARER, isOne: (_, token) => /\d/.test(token) },
];

/** Masks secrets that their form or preceding words give away. `mask` returns the replacement. */
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

/** Like `maskSecrets`, plus the keys of providers, clouds and code hosts. */
export const maskAllSecrets = (text: string, mask: (secret: string) => string): string =>
  maskSecrets(
    text.replace(API_KEY, (secret) => mask(secret)),
    mask,
  );
