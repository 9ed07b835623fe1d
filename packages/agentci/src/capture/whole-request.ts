/** A request that arrived in one piece. */
export interface WholeRequest {
  readonly method: string;
  /** The server, where the first line names it too, as clients of a proxy do. */
  readonly authority: string | undefined;
  /** What the first line asks for. */
  readonly target: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A reply that is one piece. */
export interface WholeReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const MAX_HEAD_BYTES = 16 * 1024;
const FIRST_LINE = /^([A-Z]+) (?:http:\/\/([\w.:[\]-]+))?(\/[!-~]*) HTTP\/1\.1$/;
/** All headers at once: one by one takes several times as long. */
const HEADERS = /^(?:\r\n[!#$%&'*+\-.^_`|~\w]+:[\t -~\x80-\xff]*)*$/;
/** They ask for more than a reply to these bytes. */
const ASKS_MORE = ['transfer-encoding', 'expect', 'upgrade', 'te', 'trailer', 'http2-settings'];

/**
 * Reads a request of HTTP/1.1 of the plainest kind: all of it there, nothing after it, every header once, a body of a
 * stated length. Whatever is in any way unusual is undefined, and for a server that knows all of HTTP.
 */
export function readWholeRequest(bytes: Buffer): WholeRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0 || end > MAX_HEAD_BYTES) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const first = head.indexOf('\r\n');
  const [, method, authority, target] =
    FIRST_LINE.exec(first < 0 ? head : head.slice(0, first)) ?? [];
  if (method === undefined || target === undefined) return undefined;
  if (first >= 0 && !HEADERS.test(head.slice(first))) return undefined;
  const headers = new Map<string, string>();
  for (let at = first; at >= 0; ) {
    const colon = head.indexOf(':', at);
    const next = head.indexOf('\r\n', colon);
    const name = head.slice(at + 2, colon).toLowerCase();
    if (headers.has(name)) return undefined;
    // It was meant for the proxy.
    if (name !== 'proxy-authorization')
      headers.set(name, head.slice(colon + 1, next < 0 ? end : next).trim());
    at = next;
  }
  const connection = headers.get('connection') ?? 'keep-alive';
  const toProxy = headers.get('proxy-connection') ?? 'keep-alive';
  const length = headers.get('content-length') ?? '';
  if (connection.toLowerCase() !== 'keep-alive' || toProxy.toLowerCase() !== 'keep-alive')
    return undefined;
  if (!/^\d{1,9}$/.test(length)) return undefined;
  if (ASKS_MORE.some((name) => headers.has(name))) return undefined;
  const body = bytes.subarray(end + 4);
  if (body.length !== Number(length)) return undefined;
  return { method, authority, target, headers, body };
}

/** A request for a WebSocket as a client sends it to a proxy, and what the server itself is to get. */
export interface UpgradeRequest {
  readonly url: URL;
  /** The request as to the server, and whatever followed it. */
  readonly head: Buffer;
  readonly authorization: string | undefined;
}

const UPGRADE = /^GET (http:\/\/[!-~]+) HTTP\/1\.1\r\n/;
const FOR_PROXY = /\r\nproxy-(?:authorization|connection):[^\r\n]*/gi;

export function readUpgrade(bytes: Buffer): UpgradeRequest | undefined {
  if (bytes.toString('latin1', 0, 11) !== 'GET http://') return undefined;
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0 || end > MAX_HEAD_BYTES) return undefined;
  const text = bytes.toString('latin1', 0, end);
  const [first, address = ''] = UPGRADE.exec(text) ?? [];
  if (first === undefined || !/\r\nupgrade:[ \t]*websocket/i.test(text) || !URL.canParse(address))
    return undefined;
  const url = new URL(address);
  const authorization = /\r\nproxy-authorization:[ \t]*([^\r\n]*)/i.exec(text)?.[1];
  const headers = text.slice(first.length - 2).replace(FOR_PROXY, '');
  const head = `GET ${url.pathname}${url.search} HTTP/1.1${headers}`;
  return {
    url,
    head: Buffer.concat([Buffer.from(head, 'latin1'), bytes.subarray(end)]),
    authorization,
  };
}

/** They say how a reply is sent, which is said here. */
const OF_SENDING = [
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'trailer',
  'upgrade',
];

/** Whether `writeWholeReply` can write it: statuses and headers with a say in how it is sent are not for it. */
export const isPlainReply = ({ status, headers }: Omit<WholeReply, 'body'>): boolean =>
  status === 200 && !OF_SENDING.some((name) => name in headers);

/** The reply as Node's own server sends it. */
export function writeWholeReply(
  { status, headers, body }: WholeReply,
  keepAliveMs: number,
): Buffer {
  let head = `HTTP/1.1 ${status} \r\n`;
  for (const name of Object.keys(headers)) head += `${name}: ${headers[name]}\r\n`;
  head += `content-length: ${body.length}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}
