import { canonicalJson, sha256Hex } from '@agentci/lib/data';
import type { CaseName } from '@agentci/results';
import type { Query } from '@agentci/spec';

/**
 * With more, a shard would be a single query even in a very large suite. A mistyped number would
 * take minutes to plan.
 */
export const MAX_SHARDS = 1000;

/**
 * The share of one process in a suite, and the shares of the others. Every shard computes the same
 * plan from the same inputs.
 */
export interface ShardPlan {
  /** From 1. */
  readonly index: number;
  readonly count: number;
  readonly hash: string;
  /** Every selected case, in the order of the spec. */
  readonly cases: readonly CaseName[];
  /** Number of runs of each case. */
  readonly runs: readonly number[];
  /** The ids of each shard, in the order of the spec. */
  readonly shards: readonly (readonly string[])[];
  /** Positions of cases that are expected to fail. */
  readonly xfail: readonly number[];
}

interface PlanInput {
  readonly specHash: string;
  /** The selected queries, in the order of the spec. */
  readonly queries: readonly Query[];
  readonly runsOf: (query: Query) => number;
  readonly index: number;
  readonly count: number;
  /** Duration of one run of a query in milliseconds, by id. */
  readonly timings: ReadonlyMap<string, number>;
}

/**
 * Gives each query to the shard with the least work, the longest first. A query without a timing
 * counts as the median. All runs and cells of a query stay together, because its verdict needs all
 * of them.
 */
export function planShards({
  specHash,
  queries,
  runsOf,
  index,
  count,
  timings,
}: PlanInput): ShardPlan {
  const known = queries.flatMap(({ id }) => timings.get(id) ?? []);
  const typical = medianOf(known) ?? 1;
  const weights = new Map<string, number>();
  for (const query of queries) {
    const weight =
      query.skip === undefined ? runsOf(query) * Math.max(1, timings.get(query.id) ?? typical) : 0;
    weights.set(query.id, (weights.get(query.id) ?? 0) + weight);
  }
  const ids = [...weights.keys()];
  const position = new Map(ids.map((id, at) => [id, at]));
  const loads = Array.from({ length: count }, () => ({ weight: 0, ids: [] as string[] }));
  const longestFirst = [...ids].sort(
    (a, b) => weights.get(b)! - weights.get(a)! || position.get(a)! - position.get(b)!,
  );
  for (const id of longestFirst) {
    let least = loads[0]!;
    for (const load of loads)
      if (
        load.weight < least.weight ||
        (load.weight === least.weight && load.ids.length < least.ids.length)
      )
        least = load;
    least.weight += weights.get(id)!;
    least.ids.push(id);
  }
  const shards = loads.map((load) => load.ids.sort((a, b) => position.get(a)! - position.get(b)!));
  const cases = queries.map(
    ({ id, cell }): CaseName => (cell === undefined ? { id } : { id, cell }),
  );
  const runs = queries.map(runsOf);
  const xfail = queries.flatMap((query, at) => (query.xfail === undefined ? [] : [at]));
  return {
    index,
    count,
    hash: planHash(specHash, { cases, runs, shards }),
    cases,
    runs,
    shards,
    xfail,
  };
}

/** The hash of a plan. Equal plans of equal specs have equal hashes. */
export const planHash = (
  specHash: string,
  { cases, runs, shards }: Pick<ShardPlan, 'cases' | 'runs' | 'shards'>,
): string => `sha256:${sha256Hex(canonicalJson({ plan: 1, spec: specHash, cases, runs, shards }))}`;

/** The queries of one shard, or all queries without a shard. */
export function queriesOfShard(
  queries: readonly Query[],
  shard: ShardPlan | undefined,
): readonly Query[] {
  if (shard === undefined) return queries;
  const ids = new Set(shard.shards[shard.index - 1]);
  return queries.filter(({ id }) => ids.has(id));
}

/** The lower of the two middle values, so that a plan has no extra fractions. */
function medianOf(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}
