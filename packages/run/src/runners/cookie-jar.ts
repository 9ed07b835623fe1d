const MAX_COOKIES = 100;
const MAX_LENGTH = 8192;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** Set without a domain, so it is sent only to the same host. */
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
  /** Undefined for a session cookie, which lasts for the conversation. */
  readonly expiresAt?: number | undefined;
}

/** The cookies of one conversation, by which an HTTP agent identifies it. Follows RFC 6265. */
export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Stores the `set-cookie` lines of a response from this address. Removes expired cookies. */
  keep(lines: readonly string[], address: string): void {
    const url = new URL(address);
    for (const line of lines) {
      const cookie = line.length > MAX_LENGTH ? undefined : readCookie(line, url, this.#now());
      if (cookie === undefined) continue;
      const key = JSON.stringify([cookie.name, cookie.domain, cookie.path]);
      if (this.#isOver(cookie)) this.#cookies.delete(key);
      else if (this.#cookies.has(key) || this.#cookies.size < MAX_COOKIES)
        this.#cookies.set(key, cookie);
    }
  }

  /** The cookie header for a request to this address, longest path first. */
  headerFor(address: string): string | undefined {
    const url = new URL(address);
    const fitting = [...this.#cookies.values()].filter(
      (cookie) => !this.#isOver(cookie) && fits(cookie, url),
    );
    if (fitting.length === 0) return undefined;
    return fitting
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #isOver = ({ expiresAt }: Cookie): boolean => expiresAt !== undefined && expiresAt <= this.#now();
}

function readCookie(line: string, url: URL, now: number): Cookie | undefined {
  const [pair = '', ...rest] = line.split(';');
  const at = pair.indexOf('=');
  const name = pair.slice(0, at).trim();
  if (at <= 0 || name === '') return undefined;
  const attributes = new Map(
    rest.map((attribute) => {
      const [key = '', ...value] = attribute.split('=');
      return [key.trim().toLowerCase(), value.join('=').trim()] as const;
    }),
  );
  const host = url.hostname.toLowerCase();
  const domain = (attributes.get('domain') ?? '').replace(/^\./, '').toLowerCase();
  // A cookie for another host, or for everything below `com`.
  if (domain !== '' && !(isWithin(host, domain) && (domain === host || domain.includes('.'))))
    return undefined;
  const isSecure = attributes.has('secure');
  if (isSecure && !isSafe(url)) return undefined;
  const path = attributes.get('path') ?? '';
  return {
    name,
    value: pair.slice(at + 1).trim(),
    domain: domain === '' ? host : domain,
    isHostOnly: domain === '',
    path: path.startsWith('/') ? path : defaultPath(url),
    isSecure,
    expiresAt: expiryOf(attributes, now),
  };
}

/** `Max-Age` overrides `Expires`. Unreadable attributes are ignored. */
function expiryOf(attributes: ReadonlyMap<string, string>, now: number): number | undefined {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge))
    return now + Math.max(0, Number(maxAge)) * 1000;
  const date = Date.parse(attributes.get('expires') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

const fits = ({ domain, isHostOnly, path, isSecure }: Cookie, url: URL): boolean => {
  const host = url.hostname.toLowerCase();
  return (
    (isHostOnly ? host === domain : isWithin(host, domain)) &&
    (!isSecure || isSafe(url)) &&
    isUnder(url, path)
  );
};

const isWithin = (host: string, domain: string): boolean =>
  host === domain || (host.endsWith(`.${domain}`) && !/^[\d.]+$|:/.test(host));

/** A path matches itself and everything below it: `/chat` matches `/chat/1`, not `/chatter`. */
const isUnder = ({ pathname }: URL, path: string): boolean =>
  pathname === path ||
  (pathname.startsWith(path) && (path.endsWith('/') || pathname[path.length] === '/'));

/** The folder of the address. */
const defaultPath = ({ pathname }: URL): string =>
  pathname.slice(0, pathname.lastIndexOf('/')) || '/';

/** As in browsers, this machine counts as secure without TLS. */
const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname);

/** Adds the cookies of the conversation to the headers of the spec. */
export function withCookies(
  headers: Readonly<Record<string, string>>,
  kept: string | undefined,
): Readonly<Record<string, string>> {
  if (kept === undefined) return headers;
  const own = headers.cookie;
  return { ...headers, cookie: own === undefined ? kept : `${own}; ${kept}` };
}
