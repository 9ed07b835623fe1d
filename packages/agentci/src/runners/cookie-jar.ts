const MAX_COOKIES = 100;
const MAX_LENGTH = 8192;

/** The cookies of one conversation: an agent behind HTTP knows by them who is talking to it. All requests go to one address. */
export class CookieJar {
  readonly #values = new Map<string, string>();

  /** Takes in the `set-cookie` lines of a response; one that has expired is forgotten. */
  keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(';');
      const at = pair.indexOf('=');
      const name = pair.slice(0, at).trim();
      if (at <= 0 || line.length > MAX_LENGTH) continue;
      if (attributes.some(isExpired)) this.#values.delete(name);
      else if (this.#values.has(name) || this.#values.size < MAX_COOKIES)
        this.#values.set(name, pair.slice(at + 1).trim());
    }
  }

  get header(): string | undefined {
    if (this.#values.size === 0) return undefined;
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

function isExpired(attribute: string): boolean {
  const [name = '', value = ''] = attribute.trim().split('=');
  if (name.toLowerCase() === 'max-age') return Number(value) <= 0;
  return name.toLowerCase() === 'expires' && Date.parse(value) < Date.now();
}

/** Headers with the cookies of the conversation behind those the spec sets. */
export function withCookies(
  headers: Readonly<Record<string, string>>,
  cookies: CookieJar | undefined,
): Readonly<Record<string, string>> {
  const kept = cookies?.header;
  if (kept === undefined) return headers;
  const own = headers.cookie;
  return { ...headers, cookie: own === undefined ? kept : `${own}; ${kept}` };
}
