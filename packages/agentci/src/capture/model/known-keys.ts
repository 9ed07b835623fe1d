import { SECRETS } from '../../kit/secrets.ts';
import type { PlaneRequest } from '../plane.ts';

const KEY_HEADERS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-auth-token', 'openai-api-key'];
const KEY_PARAMETERS = ['key', 'api_key', 'access_token', 'token'];
const seen = new Set<string>();

/** Remembers the keys of a request, so that whoever writes a text that repeats one masks it. */
export function rememberKeys({ headers, url = '' }: PlaneRequest['request']): void {
  for (const name of KEY_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') remember(name, value.replace(/^(?:bearer|basic|token)\s+/i, ''));
  }
  if (!url.includes('?')) return;
  const parameters = new URLSearchParams(url.slice(url.indexOf('?')));
  for (const name of KEY_PARAMETERS) {
    const value = parameters.get(name);
    if (value !== null) remember(name, value);
  }
}

function remember(name: string, value: string): void {
  // A signature is good for one request.
  if (seen.has(value) || value.startsWith('AWS4-')) return;
  seen.add(value);
  SECRETS.add([{ name, value }]);
}
