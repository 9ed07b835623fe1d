import { isObject } from '../data/object.ts';
import { maskAllSecrets } from './mask-secrets.ts';
import { isSecretName, SECRETS } from './secrets.ts';

export const REDACTED = '[redacted]';
/** Numbers under other names of secrets are mostly counts: `tokens: 500`. */
const STRONG_NAME = /pass|secret|credential|(?:^|_)pin$/i;

/** Of what a browser or a client is known by; as variables of an environment such names are mostly harmless. */
const SESSION_NAME = /(?:^|[_.-])(?:cookies?|sessions?(?:[_-]?(?:id|key))?)$/i;
const COOKIE_HEADER = /\b((?:set-)?cookie\s{0,5}:\s{0,5})([^\r\n"']{1,4000})/gi;
const FLAG = /^--?([A-Za-z][\w-]{0,60})$/;

const isSecret = (name: string): boolean =>
  isSecretName(name) || SESSION_NAME.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));

/** The name that the item before gives a value in a list: `["--token", "…"]`. */
function flagBefore(list: readonly unknown[], at: number): string | undefined {
  const before = list[at - 1];
  const flag = typeof before === 'string' ? FLAG.exec(before)?.[1] : undefined;
  return flag !== undefined && isSecret(flag) ? flag : undefined;
}

/**
 * A value without secrets: those of the environment, whatever has a name that says it is one, and what its form gives away
 * (keys of providers, tokens, private keys), in texts and in keys.
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

/** A text of ours that may quote what was passed. */
export const redactText = (text: string | null): string | null =>
  text === null ? null : SECRETS.text(maskAllSecrets(text, () => REDACTED));
