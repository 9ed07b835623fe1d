import { useLayoutEffect, useState } from 'preact/hooks';

export interface Route {
  readonly page: 'queries' | 'query' | 'charts' | 'compare' | 'runs';
  readonly id: string;
  readonly params: URLSearchParams;
}

/** Parses `#/q/<id>`, `#/charts`, `#/compare?before=…`. Invalid hashes lead to the first page. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const params = new URLSearchParams(search);
  if (path.startsWith('q/')) {
    try {
      return { page: 'query', id: decodeURIComponent(path.slice(2)), params };
    } catch {
      // The query page reports an unknown name.
      return { page: 'query', id: path.slice(2), params };
    }
  }
  return {
    page: path === 'charts' || path === 'compare' || path === 'runs' ? path : 'queries',
    id: '',
    params,
  };
}

export const queryHref = (id: string): string => `#/q/${encodeURIComponent(id)}`;

/**
 * Permanent link to a query. On a live page it includes the run, because the newest run changes.
 */
export const permalinkHash = (id: string, runId: string | undefined): string =>
  `${queryHref(id)}${runId === undefined ? '' : `?run=${encodeURIComponent(runId)}`}`;

/** Link to the comparison of the open run with another, at one query. */
export const runPairHref = (before: string, id: string): string =>
  `#/compare?${new URLSearchParams({ before, q: id }).toString()}`;

/** Link to the comparison of two cells, optionally at one query. */
export const cellPairHref = (from: string, to: string, id?: string): string =>
  `#/compare?${new URLSearchParams({ from, to, ...(id === undefined ? {} : { q: id }) }).toString()}`;

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useLayoutEffect(() => {
    const onChange = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}
