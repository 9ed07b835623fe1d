import { visibleNames } from '@agentci/lib/text';
import type { Capability, ToolStep, Trace } from './model.ts';
import { toolCalls } from './selectors.ts';
import type { Quantity } from './totals.ts';

/**
 * How much of a run is in the trace. An interrupted run is partial, however well it was recorded.
 */
export function coverage(trace: Trace, capability: Capability): 'full' | 'partial' | 'none' {
  const level = trace.captured[capability];
  return level === 'full' && trace.status === 'incomplete' ? 'partial' : level;
}

/** The tool calls of a trace, or undefined if they were not captured. */
export function capturedCalls(
  trace: Trace,
): { readonly calls: readonly ToolStep[]; readonly isPartial: boolean } | undefined {
  const level = coverage(trace, 'toolCalls');
  return level === 'none' ? undefined : { calls: toolCalls(trace), isPartial: level === 'partial' };
}

/**
 * Names of the calls. A call keeps its recorded name (`mcp__files__read`) if the reference uses it.
 */
export function namesOf(calls: readonly ToolStep[], reference: readonly string[] = []): string[] {
  const known = visibleNames(reference);
  return calls.map(({ name, rawName }) =>
    rawName !== undefined && known.includes(rawName) ? rawName : name,
  );
}

/** An interrupted run used at least the recorded amount. */
export function quantityOf(trace: Trace, quantity: Quantity): Quantity {
  if (!quantity.exact || trace.status !== 'incomplete') return quantity;
  return { exact: false, atLeast: quantity.value, why: 'the run is incomplete' };
}
