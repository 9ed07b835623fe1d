/** Reply headers to keep. An allowlist stays safe when providers invent new names for keys. */
const KEPT: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-request-id',
  'request-id',
  'x-amzn-requestid',
  'openai-processing-ms',
]);
const MAX_VALUE = 256;

/** The headers of a reply that an exchange keeps. */
export function keptHeaders(raw: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (KEPT.has(name)) kept[name] = raw[i + 1]!.slice(0, MAX_VALUE);
  }
  return kept;
}

/** Headers of a single connection (hop-by-hop). */
const HOP: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Names the query of a call from a module's thread. Only the capture sees it. */
export const QUERY_HEADER = 'x-agentci-query';

/** Set again for the upstream: host, length, and no compression. */
const RENEWED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  QUERY_HEADER,
]);

/** The client's headers for the upstream, in their order and spelling. */
export function headersForUpstream(
  raw: readonly string[],
  { host, length }: { readonly host: string; readonly length: number | undefined },
): string[] {
  const headers = ['Host', host];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!;
    const plain = name.toLowerCase();
    if (!name.startsWith(':') && !HOP.has(plain) && !RENEWED.has(plain))
      headers.push(name, raw[i + 1]!);
  }
  headers.push('Accept-Encoding', 'identity');
  if (length === undefined) headers.push('Transfer-Encoding', 'chunked');
  else headers.push('Content-Length', String(length));
  return headers;
}

/** An upstream's headers for the client. `without` lists those that are no longer valid. */
export function headersForClient(
  raw: readonly string[],
  without: ReadonlySet<string> = new Set(),
): string[] {
  const headers: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const plain = raw[i]!.toLowerCase();
    if (!HOP.has(plain) && !without.has(plain)) headers.push(raw[i]!, raw[i + 1]!);
  }
  return headers;
}

/** In the format of HTTP/2. */
export function headerObject(flat: readonly string[]): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    const before = object[name];
    object[name] = before === undefined ? flat[i + 1]! : [before, flat[i + 1]!].flat();
  }
  return object;
}
