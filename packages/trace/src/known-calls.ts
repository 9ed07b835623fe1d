import { visibleNames } from '@agentci/lib/text';
import type { Capability, ToolStep, Trace } from './model.ts';
import { toolCalls } from './selectors.ts';
import type { Quantity } from './totals.ts';

/** How much of what happened is in the trace. A run cut short is known in part only, however well it was recorded. */
export function coverage(trace: Trace, capability: Capability): 'full' | 'partial' | 'none' {
  const level = trace.captured[capability];
  return level === 'full' && trace.status === 'incomplete' ? 'partial' : level;
}

/** The tool calls of a trace, or undefined when they were not captured. */
export function capturedCalls(
  trace: Trace,
): { readonly calls: readonly ToolStep[]; readonly isPartial: boolean } | undefined {
  const level = coverage(trace, 'toolCalls');
  return level === 'none' ? undefined : { calls: toolCalls(trace), isPartial: level === 'partial' };
}

/** Names of the calls; one that a reference knows by its name as recorded (`mcp__files__read`) goes by that. */
export function namesOf(calls: readonly ToolStep[], reference: readonly string[] = []): string[] {
  const known = visibleNames(reference);
  return calls.map(({ name, rawName }) =>
    rawName !== undefined && known.includes(rawName) ? rawName : name,
  );
}

/** A run that was cut short used at least what it recorded. */
export function quantityOf(trace: Trace, quantity: Quantity): Quantity {
  if (!quantity.exact || trace.status !== 'incomplete') return quantity;
  return { exact: false, atLeast: quantity.value, why: 'the run is incomplete' };
}
