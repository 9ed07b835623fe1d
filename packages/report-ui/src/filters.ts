import type { CheckStatus, Layer, QueryResult } from '@agentci/results';
import { type Usage, usagePerRun } from '@agentci/results';

export const STATUSES = [
  'fail',
  'error',
  'warn',
  'pass',
  'skip',
] as const satisfies readonly CheckStatus[];

export interface Filters {
  /** Empty for all statuses. */
  readonly statuses: ReadonlySet<CheckStatus>;
  /** The layer that `statuses` applies to. Empty for the query's status. */
  readonly layer: Layer | '';
  readonly tag: string;
  readonly text: string;
  readonly sort: 'spec' | 'worst' | 'cost' | 'latency' | 'tokens';
}

export const NO_FILTERS: Filters = {
  statuses: new Set(),
  layer: '',
  tag: '',
  text: '',
  sort: 'worst',
};

/**
 * Prepares the search text while the page is idle, so that the first letter does not wait for it.
 */
export function warmUp(results: readonly QueryResult[], isOver: () => boolean): void {
  let at = 0;
  const some = () => {
    const until = performance.now() + 12;
    while (at < results.length && performance.now() < until) haystack(results[at++]!);
    if (at < results.length && !isOver()) setTimeout(some, 4);
  };
  setTimeout(some, 50);
}

const usages = new WeakMap<QueryResult, Usage>();

/** Usage of one repeat of a query. The mean if there are several. */
export function usageOf(result: QueryResult): Usage {
  const known = usages.get(result);
  if (known !== undefined) return known;
  const usage = usagePerRun(result);
  usages.set(result, usage);
  return usage;
}

/** Whether the numbers of a query are means over repeats. */
export const hasRepeats = (results: readonly QueryResult[]): boolean =>
  results.some(({ runs }) => runs !== undefined && runs.length > 1);

const haystacks = new WeakMap<QueryResult, string>();

/** The search text of a result, cached. */
function haystack(result: QueryResult): string {
  let text = haystacks.get(result);
  if (text === undefined) {
    const { id, query, description, tags, answer, error, correctness, path, cost } = result;
    const messages = [correctness, path, cost].flatMap((layer) => layer.messages);
    text = [
      id,
      query,
      description ?? '',
      ...tags,
      answer?.slice(0, 20_000) ?? '',
      error?.message ?? '',
      ...messages,
    ]
      .join('\n')
      .toLowerCase();
    haystacks.set(result, text);
  }
  return text;
}

const statusIn = (result: QueryResult, layer: Layer | ''): CheckStatus =>
  layer === '' ? result.status : result[layer].status;

/** The sorted results that pass all filters. Every word of the text must occur. */
export function applyFilters(results: readonly QueryResult[], filters: Filters): QueryResult[] {
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = results.filter(
    (result) =>
      (filters.statuses.size === 0 || filters.statuses.has(statusIn(result, filters.layer))) &&
      (filters.tag === '' || result.tags.includes(filters.tag)) &&
      words.every((word) => haystack(result).includes(word)),
  );
  return sorted(kept, filters);
}

function sorted(results: QueryResult[], { sort, layer }: Filters): QueryResult[] {
  if (sort === 'spec') return results;
  if (sort === 'worst') {
    // Buckets by status keep the spec's order and avoid sorting a long list.
    const buckets = new Map<CheckStatus, QueryResult[]>(STATUSES.map((status) => [status, []]));
    for (const result of results) buckets.get(statusIn(result, layer))?.push(result);
    return [...buckets.values()].flat();
  }
  const key = ({ cost: 'cost_usd', latency: 'latency_ms', tokens: 'total_tokens' } as const)[sort];
  // Unknown values come last.
  return results.sort((a, b) => (usageOf(b)[key] ?? -1) - (usageOf(a)[key] ?? -1));
}

/** Number of results per status, for the filter of a layer. */
export function countStatuses(
  results: readonly QueryResult[],
  layer: Layer | '',
): Record<CheckStatus, number> {
  const counts: Record<CheckStatus, number> = { pass: 0, warn: 0, fail: 0, error: 0, skip: 0 };
  for (const result of results) counts[statusIn(result, layer)]++;
  return counts;
}

export const tagsOf = (results: readonly QueryResult[]): string[] =>
  [...new Set(results.flatMap((result) => result.tags))].sort();
