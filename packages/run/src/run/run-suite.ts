import {
  checksOf,
  countsOf,
  isUnmeasured,
  type QueryResult,
  RESULTS_SCHEMA,
  type RunResult,
} from '@agentci/results';
import type { RunnerConfig } from '@agentci/spec';
import { CaseJudge } from './case-judge.ts';
import { concludeRun } from './conclude-run.ts';
import { joinReports } from './join-parts.ts';
import { LateCalls } from './late-calls.ts';
import { openSources } from './open-sources.ts';
import { type CasePlan, planCases, registerSecrets } from './plan-cases.ts';
import type { ShardPlan } from './plan-shards.ts';
import { runCases } from './run-cases.ts';
import type { AgentFunction, RunOptions } from './run-options.ts';
import type { RunParts } from './run-parts.ts';
import type { SourceReport } from './source.ts';

/**
 * Runs or replays the selected queries of a suite. Returns one result per query, in spec order.
 * Plans, then judges and records each run of the sources, then concludes.
 */
export async function runSuite(options: RunOptions): Promise<RunResult> {
  const { suite, sink, now = Date.now } = options;
  registerSecrets(options);
  const startedAt = now();
  const plan = await planCases(options);
  const { queries, ledger } = plan;
  const judge = await CaseJudge.open(options, plan);
  sink?.event?.({ type: 'started', queries: queries.length, runs: ledger.pending().length });
  const late = new LateCalls(queries);
  const reports: SourceReport[] = [];
  try {
    const listening = { ...options, sink: late.listen(sink) };
    for await (const source of openSources(listening, plan, judge.toolNames))
      reports.push(await runCases(source, { judge: judge.judge, ledger }));
  } finally {
    await judge.close();
  }
  const results = ledger.results();
  const parts = partsOf(options, plan, {
    ...judge.parts(),
    ...joinReports(reports, plan.isRecorded),
    late: { checks: late.checks(), inReplay: late.wereInReplay },
    hint: options.traces === undefined ? captureHint(plan.runner, results) : undefined,
  });
  sink?.parts?.(parts);
  const conclusion = await concludeRun({
    parts,
    results,
    isInterrupted: ledger.interrupted,
    custom: plan.metrics?.custom,
    shard: options.shard === undefined ? undefined : shardOf(options.shard),
  });
  return {
    schema: RESULTS_SCHEMA,
    agent: suite.agent,
    run_id: options.runId ?? 'run',
    spec: { file: suite.file, hash: suite.hash },
    ...conclusion,
    started_at: new Date(startedAt).toISOString(),
    duration_ms: now() - startedAt,
  };
}

/** The facts about the whole run, before checks over it are decided. */
function partsOf(
  { suite, strict, maxCostUsd }: RunOptions,
  { ledger, metrics }: CasePlan,
  found: Omit<RunParts, 'strict' | 'unpricedRuns' | 'matrix' | 'metrics'>,
): RunParts {
  return {
    ...found,
    strict: strict === true,
    unpricedRuns: maxCostUsd === undefined ? undefined : ledger.unpricedRuns,
    matrix:
      suite.cells === undefined ? undefined : { cells: suite.cells, baseline: suite.baselineCell },
    metrics: metrics?.parts(ledger.runsOf) ?? [],
  };
}

const shardOf = ({ index, count, hash, shards }: ShardPlan): NonNullable<RunResult['shard']> => ({
  index,
  count,
  plan_hash: hash,
  ids: [...shards[index - 1]!],
});

/**
 * A hint for checks that lacked evidence because the agent returns only its answer: how to return
 * more.
 */
export function captureHint(
  runner: RunnerConfig | AgentFunction | undefined,
  results: readonly QueryResult[],
): string | undefined {
  if (
    typeof runner !== 'object' ||
    runner.kind === 'replay' ||
    ('capture' in runner && runner.capture !== undefined)
  )
    return undefined;
  const isBlind = (result: QueryResult): boolean =>
    (result.status !== 'pass' || countsOf(result).unmeasured.length > 0) &&
    checksOf(result).some(
      (check) =>
        /\bnot captured\b/.test(check.message) && (check.status === 'error' || isUnmeasured(check)),
    );
  if (!results.some(isBlind)) return undefined;
  return runner.kind === 'http'
    ? 'the agent gives only its answer, so checks of tools and cost have nothing to look at: let the response show its tool calls, send spans (`capture: [otlp]`), or leave the checks out'
    : 'the agent gives only its answer, so checks of tools and cost have nothing to look at: write `capture: auto` under runner, let it print its tool calls, or leave the checks out';
}
