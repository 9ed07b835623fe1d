import { parseExact, stringifyExact } from '../json/exact-json.ts';
import { mapTexts, PLACEHOLDER } from './credentials.ts';
import { isKeyName, isSecretValue, SecretMask } from './secrets.ts';

/** A JSON field whose name says that its value is a credential. */
export interface CredentialField {
  readonly name: string;
  readonly value: string;
  /** Position of the value, including its quotes. */
  readonly start: number;
  readonly end: number;
  /** Part of a conversation with a model: arguments and results of tools. */
  readonly isData: boolean;
}

/**
 * Credential names that ordinary data does not use. Many tools use `token`, `key`, `code` and
 * `sort_key`, and `max_tokens` is a number.
 */
const SURE_NAME =
  /(?:passw(?:or)?d|passphrase|secret|credentials?)$|(?:^|_)(?:api|access|private|auth|secret|subscription)_?key(?:_?id)?$|(?:access|refresh|auth|authorization|oauth|bearer|session|security|id|api|bot|secret)_?token$|(?:^|_)(?:authorization|jwt)$/i;
/** Fast test for texts that may have such a field. */
const MAY_HOLD =
  /(?:passw(?:or)?d|passphrase|secret|credentials?|key(?:[_-]?id)?|token|authorization|jwt)"\s*:\s*"|\\u00/i;

/** Top-level request fields with conversation content. */
const DATA_FIELDS: ReadonlySet<string> = new Set(
  'messages input contents prompt chat_history message system instructions systemInstruction system_instruction'.split(
    ' ',
  ),
);

/** Whether a request field of this name holds a credential. */
export const isCredentialField = (name: string): boolean =>
  isKeyName(name) &&
  SURE_NAME.test(name.replaceAll('-', '_').replace(/([a-z0-9])([A-Z])/g, '$1_$2'));

/** Several words are a description, but a scheme and a token are two words. */
const isOne = (name: string, value: string): boolean =>
  isSecretValue(name, value) && (/passphrase$/i.test(name) || !/\S\s+\S+\s+\S/.test(value));

/**
 * Credential fields of a valid JSON text. Only text values count, because an object under such a
 * name is a tool schema that describes the field. Does not look inside texts.
 */
export function credentialFields(text: string): readonly CredentialField[] {
  if (!MAY_HOLD.test(text)) return [];
  const found: CredentialField[] = [];
  let depth = 0;
  let top = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    if (char !== '"') continue;
    const end = endOfString(text, at);
    const from = afterColon(text, end);
    if (from !== undefined) {
      const name = unquoted(text.slice(at, end));
      if (depth === 1) top = name;
      if (text[from] === '"' && isCredentialField(name)) {
        const stop = endOfString(text, from);
        const value = unquoted(text.slice(from, stop));
        const isData = DATA_FIELDS.has(top);
        if (isOne(name, value)) found.push({ name, value, start: from, end: stop, isData });
        at = stop - 1;
        continue;
      }
    }
    at = end - 1;
  }
  return found;
}

/** Replaces credential fields by the placeholder. */
export function withoutCredentialFields(text: string): string {
  let masked = '';
  let at = 0;
  for (const { start, end } of credentialFields(text)) {
    masked += text.slice(at, start) + JSON.stringify(PLACEHOLDER);
    at = end;
  }
  return at === 0 ? text : masked + text.slice(at);
}

/**
 * Replaces credential fields of a value, and other occurrences of their values, by the placeholder.
 */
export function withoutFieldCredentials<T>(value: T): T {
  const text = value === undefined ? '' : stringifyExact(value);
  const found = credentialFields(text);
  if (found.length === 0) return value;
  const mask = new SecretMask();
  mask.add(found.map(({ name, value: secret }) => ({ name, value: secret, isUsed: true })));
  return mapTexts(parseExact(withoutCredentialFields(text)) as T, (one) =>
    mask
      .findInDocument(one)
      .reduceRight(
        (rest, { start, end }) => rest.slice(0, start) + PLACEHOLDER + rest.slice(end),
        one,
      ),
  );
}

/** The offset after the closing quote. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

/** Offset of the value after a key that ends here. Undefined if it is not a key. */
function afterColon(text: string, from: number): number | undefined {
  let at = from;
  while (/\s/.test(text.charAt(at))) at++;
  if (text[at] !== ':') return undefined;
  at++;
  while (/\s/.test(text.charAt(at))) at++;
  return at;
}

function unquoted(written: string): string {
  if (!written.includes('\\')) return written.slice(1, -1);
  try {
    return String(JSON.parse(written));
  } catch {
    return written;
  }
}
