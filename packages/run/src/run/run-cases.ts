import { spendsMoney } from './cassette-use.ts';
import type { TraceEvaluator } from './evaluate-trace.ts';
import type { Ledger } from './ledger.ts';
import { keptResult } from './replayed-result.ts';
import { runCost } from './run-cost.ts';
import type { SourcedOutcome, SourcedRun, SourceReport, TraceSource } from './source.ts';

/** Judges the runs of a source and records the verdicts. */
interface Verdicts {
  readonly judge: TraceEvaluator;
  readonly ledger: Ledger;
}

/**
 * The run loop: judges every run of a source and records the verdict, several in parallel. The
 * source ends when the run has to stop.
 */
export async function runCases(source: TraceSource, verdicts: Verdicts): Promise<SourceReport> {
  const shared = source.runs()[Symbol.asyncIterator]();
  const runs = { [Symbol.asyncIterator]: () => shared };
  try {
    const count = Math.max(1, source.workers);
    await Promise.all(Array.from({ length: count }, () => work(runs, source, verdicts)));
  } catch (error) {
    await source.close('failed').catch(() => {});
    throw error;
  }
  const report = await source.close();
  for (const { about, error, use } of report.voids ?? []) verdicts.ledger.revoke(about, error, use);
  for (const { query, error } of report.overruled ?? []) verdicts.ledger.overrule(query, error);
  return report;
}

async function work(
  runs: AsyncIterable<SourcedRun>,
  source: TraceSource,
  verdicts: Verdicts,
): Promise<void> {
  for await (const run of runs) {
    const outcome = await run.outcome();
    if (outcome !== undefined) await settle(run, outcome, source, verdicts);
  }
}

/** Judges the outcome of a run and records the verdict. */
async function settle(
  run: SourcedRun,
  outcome: SourcedOutcome,
  source: TraceSource,
  { judge, ledger }: Verdicts,
): Promise<void> {
  const { query } = run;
  const { trace } = outcome;
  if (outcome.kind === 'known') return ledger.seen(query, run.run, outcome.trace);
  if (outcome.kind === 'failed') {
    ledger.add(query, run.run, outcome.result, trace);
  } else {
    const { played } = outcome;
    // Counts the agent's cost first: the judge may use the rest of --max-cost. Answers from a
    // cassette cost nothing.
    if (source.isPaid && (played === undefined || spendsMoney(played.use))) {
      const { usd, isWhole } = await runCost(outcome.trace);
      ledger.spend(usd, isWhole);
    }
    const result = await judge(query, outcome.trace);
    const kept = played === undefined ? result : keptResult(query, played, result);
    ledger.add(query, run.run, kept, trace);
  }
  source.recorded?.(run);
}
