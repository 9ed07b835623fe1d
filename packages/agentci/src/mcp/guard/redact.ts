import { isObject } from '../../kit/object.ts';
import { isSecretName, SECRETS } from '../../kit/secrets.ts';

const REDACTED = '[redacted]';

/** A value without secrets: those of the environment, and whatever has a name that says it is one. */
export function redact(value: unknown): { readonly value: unknown; readonly isRedacted: boolean } {
  let isRedacted = false;
  const visit = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(visit);
    if (!isObject(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => {
        if (typeof each !== 'string' || each === '' || !isSecretName(key)) return [key, visit(each)];
        isRedacted = true;
        return [key, REDACTED];
      }),
    );
  };
  const named = visit(value);
  const masked = SECRETS.value(named, () => {
    isRedacted = true;
  });
  return { value: masked, isRedacted };
}
