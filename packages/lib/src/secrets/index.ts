export {
  credentialFields,
  withoutCredentialFields,
  withoutFieldCredentials,
} from './credential-fields.ts';
export {
  CREDENTIAL_FORMS,
  type FoundCredential,
  findCredentials,
  keptDocument,
  keptText,
  keptValue,
  mapTexts,
  PLACEHOLDER,
  withoutCredentials,
} from './credentials.ts';
export { maskAllSecrets, maskSecrets } from './mask-secrets.ts';
export { findPii, maskPii, PII_TYPES, type PiiSpan, type PiiType } from './pii.ts';
export { findInternational } from './pii-international.ts';
export { REDACTED, redact, redactText } from './redact.ts';
export { rememberFields, rememberKeys } from './request-keys.ts';
export type { FoundSecret } from './secret-search.ts';
export {
  isKeyName,
  isSecretName,
  maskMark,
  maskText,
  SECRETS,
  type Secret,
  SecretMask,
  secretsIn,
} from './secrets.ts';
