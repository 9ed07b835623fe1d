import { capturedCalls } from '../trace/known-calls.ts';
import type { ToolStep, Trace } from '../trace/model.ts';
import type { CheckContext } from './check.ts';
import { parsedAnswer } from './parsed-answer.ts';

/** A call as expressions and code see it. What was not captured is absent. */
export interface CallFacts {
  readonly name: string;
  readonly args?: unknown;
  readonly result?: unknown;
  readonly error?: string | null;
  readonly agent?: string | null;
  readonly latency_ms?: number;
}

/** A call's fields under the names of the simple form. */
export function callFacts(step: ToolStep, trace: Trace): CallFacts {
  const { name, args, result, status, error, t0, t1, meta } = step;
  const latency = t0 !== undefined && t1 !== undefined ? t1 - t0 : meta?.durationMs;
  const agent = trace.agents.find(({ id }) => id === step.agent)?.name ?? step.agent;
  return {
    name,
    ...(args === undefined ? {} : { args }),
    ...(result === undefined ? {} : { result }),
    ...(status === 'error' || error !== undefined
      ? { error: error?.message ?? error?.type ?? 'error' }
      : status === 'ok'
        ? { error: null }
        : {}),
    ...(agent === undefined ? (trace.agents.length === 0 ? {} : { agent: null }) : { agent }),
    ...(typeof latency === 'number' ? { latency_ms: latency } : {}),
  };
}

/** All calls, or undefined where some or all of them were not captured. */
export function knownCalls(trace: Trace): readonly CallFacts[] | undefined {
  const recorded = capturedCalls(trace);
  return recorded === undefined || recorded.isPartial
    ? undefined
    : recorded.calls.map((step) => callFacts(step, trace));
}

/** The answer parsed as JSON: its value, null where it is not JSON, undefined where there is none. */
export function outputOf(trace: Trace): unknown {
  const parsed = parsedAnswer(trace);
  if (parsed.kind === 'none') return undefined;
  return parsed.kind === 'json' ? parsed.value : null;
}

/** What the run used up, by the names of the simple form; what is not exactly known is absent. */
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
    Object.entries(given).flatMap(([name, quantity]) => (quantity.exact ? [[name, quantity.value]] : [])),
  );
}
