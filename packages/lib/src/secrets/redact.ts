import { isObject } from '../data/object.ts';
import { maskAllSecrets } from './mask-secrets.ts';
import { isSecretName, SECRETS } from './secrets.ts';

export const REDACTED = '[redacted]';
/** Numbers under other secret-like names are usually counts: `tokens: 500`. */
const STRONG_NAME = /pass|secret|credential|(?:^|_)pin$/i;

/** Session identifiers of clients. As environment variables such names are usually harmless. */
const SESSION_NAME = /(?:^|[_.-])(?:cookies?|sessions?(?:[_-]?(?:id|key))?)$/i;
const COOKIE_HEADER = /\b((?:set-)?cookie\s{0,5}:\s{0,5})([^\r\n"']{1,4000})/gi;
const FLAG = /^--?([A-Za-z][\w-]{0,60})$/;

const isSecret = (name: string): boolean =>
  isSecretName(name) || SESSION_NAME.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));

/** The flag before a value in a list: `["--token", "…"]`. */
function flagBefore(list: readonly unknown[], at: number): string | undefined {
  const before = list[at - 1];
  const flag = typeof before === 'string' ? FLAG.exec(before)?.[1] : undefined;
  return flag !== undefined && isSecret(flag) ? flag : undefined;
}

/**
 * Redacts secrets in texts and keys: environment values, fields with secret names, and known forms
 * (provider keys, tokens, private keys).
 */
export function redact<T>(value: T): { readonly value: T; readonly isRedacted: boolean } {
  let isRedacted = false;
  const mask = (): string => {
    isRedacted = true;
    return REDACTED;
  };
  const visit = (inner: unknown, name: string | undefined): unknown => {
    if (typeof inner === 'string') {
      if (inner === '') return inner;
      return name === undefined
        ? maskAllSecrets(inner, mask).replace(
            COOKIE_HEADER,
            (_, before: string) => `${before}${mask()}`,
          )
        : mask();
    }
    if (typeof inner === 'number')
      return name !== undefined && STRONG_NAME.test(name) ? mask() : inner;
    if (Array.isArray(inner))
      return inner.map((each, i) => visit(each, name ?? flagBefore(inner, i)));
    if (!isObject(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => [
        maskAllSecrets(key, mask),
        visit(each, isSecret(key) ? key : name),
      ]),
    );
  };
  const masked = SECRETS.value(visit(value, undefined), () => {
    isRedacted = true;
  });
  return { value: masked as T, isRedacted };
}

/** Redacts a message that may quote user input. */
export const redactText = (text: string | null): string | null =>
  text === null ? null : SECRETS.text(maskAllSecrets(text, () => REDACTED));
