import { spendsMoney } from './cassette-use.ts';
import type { TraceEvaluator } from './evaluate-trace.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome, Run } from './live-agent.ts';
import { keptResult } from './played.ts';
import { runCost } from './run-cost.ts';

/** Judges what came of a run and writes the verdict down. */
export async function settleOutcome(
  { query, run }: Run,
  outcome: Outcome,
  { ledger, evaluate }: { readonly ledger: Ledger; readonly evaluate: TraceEvaluator },
): Promise<void> {
  const { trace } = outcome;
  if (outcome.kind === 'failed') {
    ledger.add(query, run, outcome.result, trace);
    return;
  }
  const { played } = outcome;
  // First the agent's cost: what is left of --max-cost is what the judge may use. Answers from a cassette cost nothing.
  if (played === undefined || spendsMoney(played.use)) {
    const { usd, isWhole } = await runCost(outcome.trace);
    ledger.spend(usd, isWhole);
  }
  const result = await evaluate(query, outcome.trace);
  ledger.add(query, run, played === undefined ? result : keptResult(query, played, result), trace);
}
