import { credentialFields } from './credential-fields.ts';
import { isKeyName, SECRETS } from './secrets.ts';

/** The parts of a request that may contain keys. */
interface KeyedRequest {
  readonly headers:
    | Readonly<Record<string, string | string[] | undefined>>
    | ReadonlyMap<string, string>;
  readonly url?: string | undefined;
}

const SCHEME = /^[\w-]+\s+(?=\S)/;

/** Registers the keys of a request, so that they are masked wherever they are repeated. */
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
 * Like `rememberKeys`, for fields of a JSON body. Skips conversation content: a password that a
 * tool sets is not a key of this request, and masking it everywhere would hide data.
 */
export function rememberFields(body: string): void {
  for (const { name, value, isData } of credentialFields(body)) {
    if (isData) continue;
    remember(name, value);
    remember(name, value.replace(SCHEME, ''));
  }
}

function rememberHeader(name: string, value: string): void {
  // A signature is valid for one request only.
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
