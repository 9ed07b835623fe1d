import { visibleName } from '@agentci/lib/text';
import type { Evidence } from '@agentci/results';
import { withMore } from '@agentci/results';
import type { ToolStep, Trace } from '@agentci/trace';
import { capturedCalls, namesOf } from '@agentci/trace';

export const NOT_CAPTURED = 'tool calls were not captured';

/** Whether a call is of the tool, by either of its names. */
export function isCallOf({ name, rawName }: ToolStep, tool: string | undefined): boolean {
  if (tool === undefined) return false;
  const wanted = visibleName(tool);
  return name === wanted || (rawName !== undefined && rawName === wanted);
}

const MAX_EVIDENCE = 20;

/**
 * Evidence for calls by index, with their step and call number. Lists the first ones and counts the
 * rest.
 */
export function callEvidence(calls: readonly ToolStep[], indices: readonly number[]): Evidence[] {
  const shown = indices
    .slice(0, MAX_EVIDENCE)
    .map((i) => ({ step: calls[i]!.seq, call: i + 1, text: calls[i]!.name }));
  return withMore(shown, indices.length - shown.length);
}

export function callIndices(
  calls: readonly ToolStep[],
  test: (call: ToolStep) => boolean,
): number[] {
  const found: number[] = [];
  for (let i = 0; i < calls.length; i++) if (test(calls[i]!)) found.push(i);
  return found;
}

/** The tool names of the baseline, or why they cannot be the reference. */
export function baselineNames(
  baseline: { readonly version: string; readonly trace: Trace } | undefined,
): string[] | { readonly missing: string } {
  if (baseline === undefined) return { missing: 'no baseline was found' };
  const recorded = capturedCalls(baseline.trace);
  if (recorded === undefined || recorded.isPartial)
    return { missing: `baseline ${baseline.version} does not have all its tool calls` };
  return namesOf(recorded.calls);
}
