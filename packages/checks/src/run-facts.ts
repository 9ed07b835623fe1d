import type { Trace } from '@agentci/trace';
import { type CallFacts, callFacts, capturedCalls } from '@agentci/trace';
import type { CheckContext } from './check.ts';
import { parsedAnswer } from './parsed-answer.ts';

/** All calls, or undefined if some were not captured. */
export function knownCalls(trace: Trace): readonly CallFacts[] | undefined {
  const recorded = capturedCalls(trace);
  return recorded === undefined || recorded.isPartial
    ? undefined
    : recorded.calls.map((step) => {
        const { at_ms: _, ...facts } = callFacts(step, trace);
        return facts;
      });
}

/** The answer parsed as JSON: null if it is not JSON, undefined if there is none. */
export function outputOf(trace: Trace): unknown {
  const parsed = parsedAnswer(trace);
  if (parsed.kind === 'none') return undefined;
  return parsed.kind === 'json' ? parsed.value : null;
}

/** Resource use, with the names of the simple form. Only exactly known values. */
export function usedUp({ totals }: Pick<CheckContext, 'totals'>): Readonly<Record<string, number>> {
  const given = {
    cost_usd: totals.costUsd,
    total_tokens: totals.totalTokens,
    input_tokens: totals.inputTokens,
    output_tokens: totals.outputTokens,
    latency_ms: totals.latencyMs,
    llm_calls: totals.llmCalls,
    tool_calls: totals.toolCalls,
    handoffs: totals.handoffs,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, quantity]) =>
      quantity.exact ? [[name, quantity.value]] : [],
    ),
  );
}
