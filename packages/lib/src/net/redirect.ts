/**
 * Describes a redirect, which our clients never follow: it would send keys to another server and
 * turn a POST into a GET. Undefined for any other status. Omits the target's query string and user
 * name, which may contain secrets.
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
