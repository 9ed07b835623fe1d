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
      return { page: 'queries', id: '', params };
    }
  }
  return { page: path === 'charts' || path === 'compare' || path === 'runs' ? path : 'queries', id: '', params };
}

export const queryHref = (id: string): string => `#/q/${encodeURIComponent(id)}`;

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useLayoutEffect(() => {
    const onChange = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}
