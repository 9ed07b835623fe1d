import { andMore } from '@agentci/lib/text';
import {
  type CaseName,
  type CheckResult,
  caseKey,
  caseText,
  type QueryResult,
  RESULTS_SCHEMA,
  type RunResult,
} from '@agentci/results';
import type { RunParts, RunStore } from '@agentci/run';
import { blankResult, concludeRun, joinParts, joinUnused } from '@agentci/run';
import type { Query } from '@agentci/spec';
import type { FoundShards } from './find-shards.ts';
import type { FoundShard } from './found-shard.ts';
import { readShardEnd, readShardLines, type ShardEnd } from './read-shard.ts';
import { replacedResults } from './replaced-results.ts';

const MAX_NAMED = 10;

/** Merges shards into one run. Missing queries get an explicit result and are never dropped. */
export async function mergeShards(
  found: FoundShards,
  {
    store,
    runId,
    withShownNames,
  }: {
    readonly store: RunStore;
    readonly runId: string;
    readonly withShownNames: (text: string) => string;
  },
): Promise<{ readonly run: RunResult; readonly models: readonly string[] }> {
  const { cases, shards } = found.plan;
  const { agent, spec } = found.shards[0]!.file;
  const problems: CheckResult[] = [
    ...found.damaged.map((what) => problem('shards.damaged', what)),
    ...found.conflicts.map((what) => problem('shards.conflict', what)),
  ];
  const { results, ends, whyMissing } = readShards(found, store, problems);
  const shardOf = shardsOfIds(shards);
  const merged = cases.map((each): QueryResult => {
    const result = results.get(caseKey(each));
    if (result !== undefined) return result;
    const index = shardOf(each.id);
    return missingResult(each, index, whyMissing.get(index));
  });
  const unexplained = merged
    .filter(({ error }) => error?.kind === 'shard')
    .filter(({ id }) => !whyMissing.has(shardOf(id)));
  if (unexplained.length > 0)
    problems.push(
      problem(
        'shards.counts',
        `no result of ${andMore(unexplained.map(caseText), MAX_NAMED)} was found in finished shards`,
      ),
    );
  const parts = ends.map((end) => end.parts);
  const joined = joinParts(parts, cases) ?? NO_PARTS;
  const replaced = joinUnused(replacedResults(found.replaced));
  const unused = joinUnused([joined.unused, replaced].flatMap((each) => each ?? []));
  const conclusion = await concludeRun({
    parts: { ...joined, unused },
    results: merged,
    incomplete: problems.map((each) => ({ ...each, message: withShownNames(each.message) })),
  });
  const run: RunResult = {
    schema: RESULTS_SCHEMA,
    agent,
    run_id: runId,
    spec,
    ...conclusion,
    notices: [...found.notices, ...replacedNotices(replaced), ...conclusion.notices],
    ...timesOf(ends),
  };
  return { run, models: joined.models };
}

/** The results of all shards, and the reasons for missing ones. Adds problems to `problems`. */
function readShards(found: FoundShards, store: RunStore, problems: CheckResult[]) {
  const { shards } = found.plan;
  const { count } = found.shards[0]!.file;
  const results = new Map<string, QueryResult>();
  const ends: ShardEnd[] = [];
  const whyMissing = new Map<number, string>();
  for (const shard of found.shards) {
    const { dir, file } = shard;
    const read = readShardEnd(dir);
    const end = typeof read === 'object' ? read : undefined;
    if (typeof read === 'string') {
      problems.push(problem('shards.damaged', `shard ${file.index} is damaged: ${read}`));
      whyMissing.set(file.index, 'its shard is damaged');
    } else if (end === undefined) {
      problems.push(
        problem('shards.unfinished', `shard ${file.index} of ${count} was not finished (${dir})`),
      );
      whyMissing.set(file.index, 'its shard was not finished');
    }
    problems.push(
      ...takeResults(shard, end, {
        store,
        results,
        // Only needed for a shard without an end.
        ofOneRun: end === undefined ? casesOfOneRun(found.plan) : new Set(),
        own: new Set(shards[file.index - 1]),
      }),
    );
    store.adoptTraces(dir);
    if (end !== undefined) ends.push(end);
  }
  const present = new Set(found.shards.map(({ file }) => file.index));
  for (const [at, ids] of shards.entries()) {
    if (present.has(at + 1)) continue;
    const what = ids.length === 0 ? 'it had no queries' : `not judged: ${andMore(ids, MAX_NAMED)}`;
    problems.push(problem('shards.missing', `shard ${at + 1} of ${count} is missing; ${what}`));
    whyMissing.set(at + 1, `shard ${at + 1} of ${count} is missing`);
  }
  return { results, ends, whyMissing };
}

function timesOf(ends: readonly ShardEnd[]): Pick<RunResult, 'started_at' | 'duration_ms'> {
  const starts = ends.flatMap(({ startedAt }) => startedAt ?? []);
  if (starts.length === 0) return {};
  const startedAt = Math.min(...starts);
  const last = Math.max(...ends.map(({ startedAt: at = 0, durationMs }) => at + durationMs));
  return { started_at: new Date(startedAt).toISOString(), duration_ms: last - startedAt };
}

const replacedNotices = (replaced: RunResult['unused']): string[] =>
  replaced === undefined || replaced.cost_usd === 0
    ? []
    : [`$${replaced.cost_usd.toFixed(4)} was spent on attempts that do not count`];

/** Maps a query to its shard. Lazy, because usually nothing is missing. */
function shardsOfIds(shards: FoundShards['plan']['shards']): (id: string) => number {
  let known: Map<string, number> | undefined;
  return (id) => {
    known ??= new Map(shards.flatMap((ids, at) => ids.map((each) => [each, at + 1] as const)));
    return known.get(id) ?? 0;
  };
}

/**
 * Cases with a single repeat, whose result is the verdict. For other cases, an unfinished shard
 * proves nothing: repeats may be missing, and expected failures are inverted at the end.
 */
function casesOfOneRun({ cases, runs, xfail }: FoundShards['plan']): ReadonlySet<string> {
  const expected = new Set(xfail);
  return new Set(cases.filter((_, at) => runs[at] === 1 && !expected.has(at)).map(caseKey));
}

/** Streams a shard's journal into the merged one and reports inconsistencies. */
function takeResults(
  { dir, file }: FoundShard,
  end: ShardEnd | undefined,
  to: {
    readonly store: RunStore;
    readonly results: Map<string, QueryResult>;
    readonly ofOneRun: ReadonlySet<string>;
    /** Ids that belong to the shard. */
    readonly own: ReadonlySet<string>;
  },
): CheckResult[] {
  const problems: CheckResult[] = [];
  const { own } = to;
  const taken = new Map<string, QueryResult>();
  for (const line of readShardLines(dir)) {
    if ('damage' in line) {
      problems.push(problem('shards.damaged', `shard ${file.index} is damaged: ${line.damage}`));
      continue;
    }
    const key = caseKey({ id: line.id, cell: line.result.cell });
    if (!own.has(line.id)) {
      problems.push(
        problem(
          'shards.overlap',
          `shard ${file.index} has a result of "${line.id}", which is a query of another shard`,
        ),
      );
      continue;
    }
    to.store.record(line, undefined);
    if (line.run !== 1) continue;
    const isWanted = end === undefined ? to.ofOneRun.has(key) : end.named.has(key);
    if (isWanted) taken.set(key, to.store.keep(line.result));
  }
  for (const [key, result] of end?.whole ?? []) if (own.has(result.id)) taken.set(key, result);
  for (const [key, result] of taken) to.results.set(key, result);
  if (end !== undefined) problems.push(...countProblems(file.index, end, taken));
  return problems;
}

/** A shard's counts must match its results, so that no failure is lost. */
function countProblems(
  index: number,
  { summary }: ShardEnd,
  taken: ReadonlyMap<string, QueryResult>,
): CheckResult[] {
  const counted = { total: taken.size, failed: 0, errors: 0 };
  for (const { status } of taken.values()) {
    if (status === 'fail') counted.failed++;
    if (status === 'error') counted.errors++;
  }
  return (['total', 'failed', 'errors'] as const)
    .filter((name) => summary[name] !== counted[name])
    .map((name) =>
      problem(
        'shards.counts',
        `shard ${index} reported ${name} ${summary[name]}, but its results come to ${counted[name]}`,
      ),
    );
}

const problem = (id: string, message: string): CheckResult => ({
  id,
  status: 'error',
  message,
  evidence: [],
});

function missingResult(
  each: CaseName,
  index: number,
  why = 'its shard has no result of it',
): QueryResult {
  const blank = blankResult({ ...each, query: each.id, tags: [] } as unknown as Query);
  return {
    ...blank,
    status: 'error',
    error: {
      kind: 'shard',
      message: `not judged: ${why.includes('shard') ? why : `${why} (shard ${index})`}`,
    },
  };
}

/** Used if none of the shards finished. */
const NO_PARTS: RunParts = {
  strict: false,
  models: [],
  recorded: { checks: [], notices: [], unmatched: 0 },
  late: { checks: [], inReplay: false },
  outside: [],
  tools: { isBlind: true, known: [], ruled: [], constrained: [], forbidden: [] },
  judge: { usage: { calls: 0, cost_usd: null }, off: 0, failures: [], unpriced: [] },
  baselines: [],
  metrics: [],
};
