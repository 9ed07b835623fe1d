import { maskAllSecrets } from '../../kit/mask-secrets.ts';
import { isObject } from '../../kit/object.ts';
import { isSecretName, SECRETS } from '../../kit/secrets.ts';

const REDACTED = '[redacted]';
/** Numbers under other names of secrets are mostly counts: `tokens: 500`. */
const STRONG_NAME = /pass|secret|credential|(?:^|_)pin$/i;

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
      return name === undefined ? maskAllSecrets(inner, mask) : mask();
    }
    if (typeof inner === 'number') return name !== undefined && STRONG_NAME.test(name) ? mask() : inner;
    if (Array.isArray(inner)) return inner.map((each) => visit(each, name));
    if (!isObject(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => [
        maskAllSecrets(key, mask),
        visit(each, isSecretName(key) ? key : name),
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
