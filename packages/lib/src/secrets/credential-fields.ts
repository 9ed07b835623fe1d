import { parseExact, stringifyExact } from '../json/exact-json.ts';
import { mapTexts, PLACEHOLDER } from './credentials.ts';
import { isKeyName, isSecretValue, SecretMask } from './secrets.ts';

/** A field of a JSON text whose name says that its value is a credential. */
export interface CredentialField {
  readonly name: string;
  readonly value: string;
  /** Where the value is, with its quotes. */
  readonly start: number;
  readonly end: number;
  /** It is part of what is said to a model, or was said by it: arguments and results of tools. */
  readonly isData: boolean;
}

/**
 * Of the names that parameters of addresses lose their values by, those that ordinary data does not have. `token`, `key`, `code`
 * and `sort_key` are words of many tools, and `max_tokens` is an amount.
 */
const SURE_NAME =
  /(?:passw(?:or)?d|passphrase|secret|credentials?)$|(?:^|_)(?:api|access|private|auth|secret|subscription)_?key(?:_?id)?$|(?:access|refresh|auth|authorization|oauth|bearer|session|security|id|api|bot|secret)_?token$|(?:^|_)(?:authorization|jwt)$/i;
/** What every text has that holds such a field. */
const MAY_HOLD =
  /(?:passw(?:or)?d|passphrase|secret|credentials?|key(?:[_-]?id)?|token|authorization|jwt)"\s*:\s*"|\\u00/i;

/** What models are told and tell, at the top of a request. */
const DATA_FIELDS: ReadonlySet<string> = new Set(
  'messages input contents prompt chat_history message system instructions systemInstruction system_instruction'.split(
    ' ',
  ),
);

/** Whether a field of a request of this name holds a credential. */
export const isCredentialField = (name: string): boolean =>
  isKeyName(name) &&
  SURE_NAME.test(name.replaceAll('-', '_').replace(/([a-z0-9])([A-Z])/g, '$1_$2'));

/** Only words after one another are a description; a scheme and a token are two. */
const isOne = (name: string, value: string): boolean =>
  isSecretValue(name, value) && (/passphrase$/i.test(name) || !/\S\s+\S+\s+\S/.test(value));

/**
 * The credentials among the fields of a valid JSON text. Only texts count: a field that is an object is the schema of a tool,
 * which describes such a field. What is inside a text is left alone.
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

/** The JSON text with the placeholder for every such field. */
export function withoutCredentialFields(text: string): string {
  let masked = '';
  let at = 0;
  for (const { start, end } of credentialFields(text)) {
    masked += text.slice(at, start) + JSON.stringify(PLACEHOLDER);
    at = end;
  }
  return at === 0 ? text : masked + text.slice(at);
}

/** A parsed value with the placeholder for every such field, and wherever else in it the value of one is repeated. */
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

/** Where the value of a key begins that ends here; undefined where it is not a key. */
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
