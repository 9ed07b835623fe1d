import { visibleName, visibleNames } from '../kit/visible-text.ts';
import type { Evidence } from '../results/run-result.ts';
import type { Capability, ToolStep, Trace } from '../trace/model.ts';
import { toolCalls } from '../trace/selectors.ts';

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

export const NOT_CAPTURED = 'tool calls were not captured';

/** Names of the calls; one that a reference knows by its name as recorded (`mcp__files__read`) goes by that. */
export function namesOf(calls: readonly ToolStep[], reference: readonly string[] = []): string[] {
  const known = visibleNames(reference);
  return calls.map(({ name, rawName }) => (rawName !== undefined && known.includes(rawName) ? rawName : name));
}

/** Whether a call is one of the tool, under either of its names. */
export function isCallOf({ name, rawName }: ToolStep, tool: string | undefined): boolean {
  if (tool === undefined) return false;
  const wanted = visibleName(tool);
  return name === wanted || (rawName !== undefined && rawName === wanted);
}

const MAX_EVIDENCE = 20;

/** Points at calls by index, with their step and their number among tool calls. */
export function callEvidence(calls: readonly ToolStep[], indices: readonly number[]): Evidence[] {
  return indices.slice(0, MAX_EVIDENCE).map((i) => ({ step: calls[i]!.seq, call: i + 1, text: calls[i]!.name }));
}

/** Indices of the calls for which the test holds. */
export function callIndices(calls: readonly ToolStep[], test: (call: ToolStep) => boolean): number[] {
  const found: number[] = [];
  for (let i = 0; i < calls.length; i++) if (test(calls[i]!)) found.push(i);
  return found;
}

/** The tool names of the baseline, or why they cannot serve as a reference. */
export function baselineNames(
  baseline: { readonly version: string; readonly trace: Trace } | undefined,
): string[] | { readonly missing: string } {
  if (baseline === undefined) return { missing: 'no baseline was found' };
  const recorded = capturedCalls(baseline.trace);
  if (recorded === undefined || recorded.isPartial)
    return { missing: `baseline ${baseline.version} does not have all its tool calls` };
  return namesOf(recorded.calls);
}
