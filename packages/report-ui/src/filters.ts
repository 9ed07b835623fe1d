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
  /** Empty: every status. */
  readonly statuses: ReadonlySet<CheckStatus>;
  /** The layer whose status is meant; empty: that of the query. */
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

/** Makes what the text filter looks in while the page is idle, so that the first letter does not wait for it. */
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

/** What one run of a query used; the mean where there are several. */
export function usageOf(result: QueryResult): Usage {
  const known = usages.get(result);
  if (known !== undefined) return known;
  const usage = usagePerRun(result);
  usages.set(result, usage);
  return usage;
}

/** Whether numbers of a query are means over its runs. */
export const hasRepeats = (results: readonly QueryResult[]): boolean =>
  results.some(({ runs }) => runs !== undefined && runs.length > 1);

const haystacks = new WeakMap<QueryResult, string>();

/** What the text filter looks in, made once per result. */
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

/** The results that pass all filters, in the order asked for. Every word of the text must occur. */
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
    // One pass into a bucket for each status keeps the spec's order inside, and does not sort what is long.
    const buckets = new Map<CheckStatus, QueryResult[]>(STATUSES.map((status) => [status, []]));
    for (const result of results) buckets.get(statusIn(result, layer))?.push(result);
    return [...buckets.values()].flat();
  }
  const key = ({ cost: 'cost_usd', latency: 'latency_ms', tokens: 'total_tokens' } as const)[sort];
  // Unknown is neither cheap nor dear: it comes last.
  return results.sort((a, b) => (usageOf(b)[key] ?? -1) - (usageOf(a)[key] ?? -1));
}

/** How many results have each status, as the filter of a layer sees them. */
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
