import type { RunResult } from '../results/run-result.ts';
import { hasMetrics } from '../spec/metric-list.ts';
import { hasRubrics } from '../spec/rubric.ts';
import type { Query } from '../spec/suite.ts';
import type { TraceEvaluator } from './evaluate-trace.ts';
import type { Ledger } from './ledger.ts';
import { aboutOf, openLiveAgent } from './live-agent.ts';
import { runPool } from './pool.ts';
import type { LiveRunner, RunOptions } from './run-options.ts';
import { settleOutcome } from './settle-outcome.ts';
import { VerdictQueue } from './verdict-queue.ts';

const DEFAULT_WORKERS = 4;

/** Runs the agent for every pending query and writes each verdict down as soon as it is there. */
export async function collectLive(
  options: RunOptions,
  config: LiveRunner,
  ledger: Ledger,
  evaluate: TraceEvaluator,
): Promise<RunResult['user']> {
  const workers = options.workers ?? DEFAULT_WORKERS;
  const pending = ledger.pending();
  const verdicts = new VerdictQueue(workers);
  const agent = await openLiveAgent({
    options,
    config,
    workers,
    budget: ledger,
    runs: pending.map(aboutOf),
  });
  const stop = (): boolean => ledger.stopped() || verdicts.hasFailed();
  try {
    await runPool(pending, { workers, stop }, async (of) => {
      const read = await agent.run(of);
      const settle = async (): Promise<void> => {
        const outcome = await read();
        if (outcome !== undefined) await settleOutcome(of, outcome, { ledger, evaluate });
      };
      await (canWait(of.query, options) ? verdicts.add(settle) : settle());
    });
  } finally {
    await verdicts.settled();
    for (const { about, error, use } of await agent.close()) ledger.revoke(about, error, use);
  }
  verdicts.throwFailure();
  return agent.usage();
}

/** Whether the next agent may start before the verdict on this one. Not where it could stop the run, or asks a judge. */
const canWait = (query: Query, { failFast = false, maxCostUsd }: RunOptions): boolean =>
  !failFast && maxCostUsd === undefined && !hasRubrics(query) && !hasMetrics(query);
