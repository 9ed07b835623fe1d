import { credentialFields } from './credential-fields.ts';
import { isKeyName, SECRETS } from './secrets.ts';

/** What of a request may hold keys. */
interface KeyedRequest {
  readonly headers:
    | Readonly<Record<string, string | string[] | undefined>>
    | ReadonlyMap<string, string>;
  readonly url?: string | undefined;
}

const SCHEME = /^[\w-]+\s+(?=\S)/;

/** Remembers the keys of a request, so that whoever writes a text that repeats one masks it. */
export function rememberKeys({ headers, url = '' }: KeyedRequest): void {
  for (const [name, given] of headers instanceof Map ? headers : Object.entries(headers)) {
    if (!isKeyName(name)) continue;
    if (typeof given === 'string') rememberHeader(name, given);
    else for (const value of given ?? []) rememberHeader(name, value);
  }
  if (!url.includes('?')) return;
  for (const [name, value] of new URLSearchParams(url.slice(url.indexOf('?'))))
    if (isKeyName(name)) remember(name, value);
}

/**
 * As `rememberKeys` for those in the fields of a JSON body. What models are told or tell is left out: a password that a tool is
 * to set is not a key of this request, and would be hidden wherever it is said.
 */
export function rememberFields(body: string): void {
  for (const { name, value, isData } of credentialFields(body)) {
    if (isData) continue;
    remember(name, value);
    remember(name, value.replace(SCHEME, ''));
  }
}

function rememberHeader(name: string, value: string): void {
  // A signature is good for one request.
  if (value.startsWith('AWS4-')) return;
  if (name === 'cookie') {
    for (const pair of value.split(';')) remember(name, pair.slice(pair.indexOf('=') + 1).trim());
    return;
  }
  const key = value.replace(SCHEME, '');
  remember(name, key);
  if (/^basic\s/i.test(value))
    remember(
      name,
      Buffer.from(key, 'base64')
        .toString('utf8')
        .replace(/^[^:]*:/, ''),
    );
}

function remember(name: string, value: string): void {
  SECRETS.add([{ name, value, isUsed: true }]);
}
