/** Of a reply these are kept; a list of what may stay forgets nothing when providers invent new names for keys. */
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

/** They belong to one connection, not to what is sent over it. */
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

/** Says for which query a module's thread makes a call. Only the capture sees it. */
export const QUERY_HEADER = 'x-agentci-query';

/** Set anew for the upstream: where it goes, how long it is, and that it must not be compressed. */
const RENEWED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  QUERY_HEADER,
]);

/** A client's headers as they go to the upstream, in their order and spelling. */
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

/** An upstream's headers as they go to the client; `without` are those that no longer hold. */
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

/** As HTTP/2 takes them. */
export function headerObject(flat: readonly string[]): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    const before = object[name];
    object[name] = before === undefined ? flat[i + 1]! : [before, flat[i + 1]!].flat();
  }
  return object;
}
