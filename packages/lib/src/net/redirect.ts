/**
 * What to say about a redirect, which no client of ours follows: it would carry keys to a server that was not named, and turn a
 * POST into a GET. Undefined for any other status. The target's query string and user name may hold secrets.
 */
export function describeRedirect(
  status: number,
  location: string | null | undefined,
): string | undefined {
  if (status < 300 || status > 399) return undefined;
  const target = location
    ?.replace(/[?#].*$/s, '')
    .replace(/^(\w+:)?\/\/[^/@]*@/, '$1//')
    .slice(0, 300);
  return `HTTP ${status}, a redirect${target ? ` to ${target}` : ''}, which is not followed`;
}
