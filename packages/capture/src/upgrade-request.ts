const MAX_HEAD_BYTES = 16 * 1024;

/** A WebSocket request from a client to a proxy, and the form for the server. */
export interface UpgradeRequest {
  readonly url: URL;
  /** The request in the form for the server, with any following bytes. */
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
