import { DEFAULT_ENSEMBLE, isSampled, type JudgeConfig } from '@agentci/judge';
import type { QueryResult, RunResult } from '@agentci/results';
import { type CaseName, caseKey } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { countRubrics } from '@agentci/spec';
import type { RunOptions } from './run-options.ts';

export const PLAN_SCHEMA = 'agentci.plan/1';

/** One case of a planned run. */
export interface PlannedCase extends CaseName {
  readonly query: string;
  readonly tags: readonly string[];
  readonly runs: number;
  /** The reason why it is skipped. */
  readonly skip?: string;
  /** Cost of one run last time. Absent if unknown. */
  readonly cost_usd?: number;
}

/** The work of a run, and its estimated cost. */
export interface RunPlan {
  readonly schema: typeof PLAN_SCHEMA;
  readonly agent: string;
  readonly spec: string;
  readonly summary: {
    /** Number of different ids. With a matrix each has a case per cell. */
    readonly queries: number;
    readonly cells: number;
    readonly cases: number;
    readonly skipped: number;
    /** Number of runs of cases. */
    readonly runs: number;
    readonly agent_calls: number;
    /**
     * Maximum number of calls. A stored verdict needs no call, and a failed check makes the judge
     * unnecessary.
     */
    readonly judge_calls: number;
    /** `null` if no cost is known. */
    readonly cost_usd: number | null;
    /**
     * Number of runs in the estimate without data from the last run. They are estimated by the
     * average.
     */
    readonly guessed_runs: number;
    readonly judge_cost_usd: number | null;
    /** The run that the estimate is based on. */
    readonly from?: string;
  };
  readonly cases: readonly PlannedCase[];
}

/** Plans a run of the selected queries. `last` is the run for the cost estimate. */
export function planRun(
  options: RunOptions,
  queries: readonly Query[],
  last: RunResult | undefined,
): RunPlan {
  const { suite } = options;
  const runner = options.runner ?? suite.runner;
  const isRecorded =
    options.traces !== undefined || (typeof runner === 'object' && runner.kind === 'replay');
  const costs = new Map((last?.results ?? []).map((result) => [caseKey(result), costOf(result)]));
  const known = [...costs.values()].filter((cost) => cost !== undefined);
  const average =
    known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0) / known.length;
  let runs = 0;
  let judgeCalls = 0;
  let cost = 0;
  let guessed = 0;
  const cases = queries.map((query): PlannedCase => {
    const { id, cell, query: text, tags, skip } = query;
    const times = skip === undefined ? (options.runs ?? query.runs) : 0;
    const before = costs.get(caseKey(query));
    runs += times;
    judgeCalls += times * countRubrics(query) * judgesOf(options, query);
    cost += times * (before ?? average ?? 0);
    if (before === undefined) guessed += times;
    return {
      id,
      cell,
      query: text,
      tags,
      runs: times,
      skip,
      cost_usd: before,
    };
  });
  // Without an average no cost is known.
  const liveCost = average === undefined ? null : cost;
  const agentCost = isRecorded ? 0 : liveCost;
  return {
    schema: PLAN_SCHEMA,
    agent: suite.agent,
    spec: suite.file,
    summary: {
      queries: new Set(queries.map(({ id }) => id)).size,
      cells: new Set(
        queries.flatMap(({ cell }) => (cell === undefined ? [] : [JSON.stringify(cell)])),
      ).size,
      cases: queries.length,
      skipped: queries.filter(({ skip }) => skip !== undefined).length,
      runs,
      agent_calls: isRecorded ? 0 : runs,
      judge_calls: judgeCalls,
      cost_usd: agentCost,
      guessed_runs: isRecorded || average === undefined ? 0 : guessed,
      judge_cost_usd: judgeCost(judgeCalls, last),
      from: last?.run_id,
    },
    cases,
  };
}

/** Estimated cost of the judge, if a call costs the same as in the last run. */
function judgeCost(calls: number, last: RunResult | undefined): number | null {
  if (calls === 0) return 0;
  if (last === undefined || last.judge.calls === 0 || last.judge.cost_usd === null) return null;
  return (last.judge.cost_usd / last.judge.calls) * calls;
}

/** Number of judges for one rubric of a query. */
function judgesOf(
  { judge = 'live', suite, sampleEnsemble: share, seed = 0 }: RunOptions,
  query: Query,
): number {
  if (judge === 'off' || judge === 'recorded') return 0;
  const { ensemble } = (suite.judgeConfig ?? {}) as JudgeConfig;
  const isEnsemble =
    share === undefined ? (ensemble?.enabled ?? false) : isSampled(query.id, { share, seed });
  return isEnsemble ? (ensemble?.models ?? DEFAULT_ENSEMBLE).length : 1;
}

/** Number of queries with a known cost in a run. */
export function knownCosts({ results }: RunResult, queries: readonly Query[]): number {
  const known = new Set(results.filter((result) => costOf(result) !== undefined).map(caseKey));
  return queries.filter((query) => known.has(caseKey(query))).length;
}

/** The mean cost of a run, over the runs with a known cost. */
function costOf({ runs, cost }: QueryResult): number | undefined {
  const all = runs?.map((run) => run.cost_usd) ?? [
    (cost.details.actual as { cost_usd?: number | null } | undefined)?.cost_usd,
  ];
  const known = all.filter((usd): usd is number => typeof usd === 'number' && Number.isFinite(usd));
  return known.length === 0 ? undefined : known.reduce((sum, usd) => sum + usd, 0) / known.length;
}
