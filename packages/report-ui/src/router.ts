import { useLayoutEffect, useState } from 'preact/hooks';

export interface Route {
  readonly page: 'queries' | 'query' | 'charts' | 'compare' | 'runs';
  readonly id: string;
  readonly params: URLSearchParams;
}

/** Reads `#/q/<id>`, `#/charts`, `#/compare?before=…`. What cannot be read is the first page. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const params = new URLSearchParams(search);
  if (path.startsWith('q/')) {
    try {
      return { page: 'query', id: decodeURIComponent(path.slice(2)), params };
    } catch {
      // The page of a query then says that it knows none of this name.
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

/** Where a query is found again: on a live page this names the run, since another may be the newest by then. */
export const permalinkHash = (id: string, runId: string | undefined): string =>
  `${queryHref(id)}${runId === undefined ? '' : `?run=${encodeURIComponent(runId)}`}`;

/** The open run beside another, at one query. */
export const runPairHref = (before: string, id: string): string =>
  `#/compare?${new URLSearchParams({ before, q: id }).toString()}`;

/** Two cells of the matrix side by side, at one query where it is given. */
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
