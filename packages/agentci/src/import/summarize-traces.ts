import {
  CAPABILITIES,
  type Capability,
  handoffs,
  type Quantity,
  type Trace,
  toolCalls,
  totals,
} from '@agentci/trace';
import { fellShort } from './outcomes.ts';

/** Summary of the recordings in one format. */
export interface ImportSummary {
  readonly format: string;
  readonly dialects: readonly string[];
  readonly traces: number;
  readonly failures: number;
  readonly tool_calls: number;
  readonly tools: readonly string[];
  readonly llm_calls: number;
  readonly agents: readonly string[];
  readonly handoffs: number;
  /** Sum of the known tokens. Null if no trace has any. */
  readonly tokens: number | null;
  /**
   * Capabilities missing in some or all traces, with the number of traces that lack them
   * completely.
   */
  readonly not_captured: readonly { readonly what: Capability; readonly traces: number }[];
  readonly warnings: readonly {
    readonly code: string;
    readonly message: string;
    readonly traces: number;
  }[];
}

const known = (quantity: Quantity): number => (quantity.exact ? quantity.value : quantity.atLeast);

/** One summary per format, in order of first appearance. */
export function summarizeTraces(traces: readonly Trace[]): ImportSummary[] {
  const byFormat = new Map<string, Trace[]>();
  for (const trace of traces) {
    const same = byFormat.get(trace.source.format);
    if (same === undefined) byFormat.set(trace.source.format, [trace]);
    else same.push(trace);
  }
  return [...byFormat].map(([format, group]) => summary(format, group));
}

function summary(format: string, traces: readonly Trace[]): ImportSummary {
  const sums = traces.map((trace) => totals(trace));
  const calls = traces.flatMap(toolCalls);
  const tokens = sums
    .map(({ totalTokens }) => totalTokens)
    .filter((count) => count.exact || count.atLeast > 0);
  const warnings = new Map<string, { code: string; message: string; traces: number }>();
  for (const { code, message } of traces.flatMap((trace) => trace.warnings)) {
    const same = warnings.get(code);
    if (same === undefined) warnings.set(code, { code, message, traces: 1 });
    else same.traces++;
  }
  return {
    format,
    dialects: [...new Set(traces.flatMap((trace) => trace.source.dialects ?? []))],
    traces: traces.length,
    failures: traces.filter(isFailedRun).length,
    tool_calls: calls.length,
    tools: [...new Set(calls.map(({ name }) => name))],
    llm_calls: sums.reduce((sum, { llmCalls }) => sum + known(llmCalls), 0),
    agents: [...new Set(traces.flatMap((trace) => trace.agents.map(({ name }) => name)))],
    handoffs: traces.reduce((sum, trace) => sum + handoffs(trace).length, 0),
    tokens: tokens.length === 0 ? null : tokens.reduce((sum, count) => sum + known(count), 0),
    not_captured: CAPABILITIES.map((what) => ({
      what,
      traces: traces.filter(({ captured }) => captured[what] === 'none').length,
    })).filter((lack) => lack.traces > 0),
    warnings: [...warnings.values()],
  };
}

/** Whether a recording shows a failure: of the run, of a call, or in a score. */
export const isFailedRun = (trace: Trace): boolean =>
  trace.status === 'error' ||
  trace.status === 'incomplete' ||
  toolCalls(trace).some(({ status }) => status === 'error' || status === 'denied') ||
  fellShort(trace) ||
  (trace.outcomes ?? []).some(({ name, value }) =>
    HARM.test(name)
      ? value === true || value === 1
      : SUCCESS.test(name) && (value === false || value === 0),
  );

/** 0 is bad only for SUCCESS scores. For others, such as toxicity, 0 may be good. */
const HARM = /^attack_succeeded$/i;
const SUCCESS = /reward|success|pass|correct|utility|accuracy|resolved|security/i;
