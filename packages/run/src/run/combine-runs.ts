import type { CheckStatus, Layer, QueryResult, RunSummary } from '@agentci/results';
import { emptyLayer, mergeWarnings, worstRun } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { sumUses } from './cassette-use.ts';
import { stabilityOf } from './stability.ts';

/**
 * One result from all runs of a query. A run passes on pass or warn. Error runs do not count in the
 * denominator. A rate below `min_pass_rate` fails, otherwise any error run is an error. The answer
 * and layers are those of the first worst run.
 */
export function combineRuns(query: Query, runs: readonly QueryResult[]): QueryResult {
  const [first] = runs;
  if (first === undefined) throw new Error(`query ${query.id} has no run to combine`);
  const single = runs.length === 1 ? first : merge(query, runs);
  return applyXfail(query, single);
}

function merge(query: Query, runs: readonly QueryResult[]): QueryResult {
  const worst = runs[worstRun(runs)]!;
  const passed = runs.filter((run) => run.status === 'pass' || run.status === 'warn').length;
  const decided = passed + runs.filter((run) => run.status === 'fail').length;
  return {
    ...worst,
    status: statusOf(query, runs, { passed, decided }),
    warnings: mergeWarnings(runs),
    runs: runs.map(summaryOf),
    pass_rate: { passed, decided, min: query.minPassRate },
    stability: stabilityOf(runs),
    ...cassetteOf(runs),
  };
}

function cassetteOf(runs: readonly QueryResult[]): Pick<QueryResult, 'cassette'> {
  const cassette = sumUses(runs.map((run) => run.cassette));
  return cassette === undefined ? {} : { cassette };
}

function statusOf(
  query: Query,
  runs: readonly QueryResult[],
  { passed, decided }: { passed: number; decided: number },
): CheckStatus {
  if (runs.every((run) => run.status === 'skip')) return 'skip';
  if (decided > 0 && passed / decided < query.minPassRate) return 'fail';
  if (decided === 0 || runs.some((run) => run.status === 'error')) return 'error';
  return runs.some((run) => run.status === 'warn') ? 'warn' : 'pass';
}

function summaryOf(run: QueryResult, index: number): RunSummary {
  const actual = run.cost.details.actual as
    | { cost_usd?: number | null; total_tokens?: number | null; latency_ms?: number | null }
    | undefined;
  return {
    run: index + 1,
    status: run.status,
    answer: run.answer,
    error: run.error,
    cost_usd: actual?.cost_usd ?? null,
    total_tokens: actual?.total_tokens ?? null,
    latency_ms: actual?.latency_ms ?? null,
    messages: [run.correctness, run.path, run.cost]
      .filter((layer) => layer.status !== 'pass' && layer.status !== 'skip')
      .flatMap((layer) => layer.messages),
  };
}

/**
 * An expected failure that fails is skipped. One that passes is a failure, because the `xfail` note
 * is outdated.
 */
function applyXfail(query: Query, result: QueryResult): QueryResult {
  if (query.xfail === undefined) return result;
  const xfail = { reason: query.xfail, status: result.status };
  if (result.status === 'fail') return { ...result, status: 'skip', xfail };
  if (result.status !== 'pass' && result.status !== 'warn') return { ...result, xfail };
  const message = `expected to fail (${query.xfail}) but it passes: remove xfail`;
  const location = query.locations?.xfail ?? query.location;
  return {
    ...result,
    status: 'fail',
    xfail,
    correctness: {
      ...result.correctness,
      status: 'fail',
      messages: [message],
      checks: [
        ...result.correctness.checks,
        {
          id: 'correctness.xfail',
          status: 'fail',
          message,
          evidence: [],
          location,
        },
      ],
    },
  };
}

/** A result for a query that could not be judged. */
export function errorResult(query: Query, error: NonNullable<QueryResult['error']>): QueryResult {
  return { ...blankResult(query), status: 'error', error };
}

/** A result for a query that was never started. */
export function notRunResult(query: Query, why: string): QueryResult {
  return { ...blankResult(query), status: 'skip', not_run: why };
}

/** A result for a query that the spec skips. */
export function skippedResult(query: Query, reason: string): QueryResult {
  return { ...blankResult(query), status: 'skip', skip: { reason } };
}

/** An empty result. `layers` are those already known. */
export function blankResult(query: Query, layers?: Pick<QueryResult, Layer>): QueryResult {
  const { id, cell, query: text, description, tags, location } = query;
  // In the order of the report. Built once per query, so without spreading.
  const result = (
    cell === undefined ? { id, query: text } : { id, cell, query: text }
  ) as QueryResult;
  if (description !== undefined) result.description = description;
  result.tags = [...tags];
  result.status = 'skip';
  result.answer = null;
  if (location) result.location = location;
  result.warnings = [];
  result.correctness = layers?.correctness ?? emptyLayer();
  result.path = layers?.path ?? emptyLayer();
  result.cost = layers?.cost ?? emptyLayer();
  result.metrics = {};
  return result;
}
