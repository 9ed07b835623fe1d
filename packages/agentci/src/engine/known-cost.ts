import type { Trace } from '../trace/model.ts';

/** What a run is known to have cost, in dollars; 0 where nothing is known. */
export function knownCost(trace: Trace): number {
  if (trace.reported?.cost) return trace.reported.cost.usd;
  return trace.steps.reduce((sum, step) => sum + (step.kind === 'llm' ? (step.cost?.usd ?? 0) : 0), 0);
}

/** Whether that is all it cost. */
export const isCostKnown = (trace: Trace): boolean =>
  trace.reported?.cost !== undefined ||
  (trace.captured.llmCalls === 'full' && trace.steps.every((step) => step.kind !== 'llm' || step.cost !== undefined));
