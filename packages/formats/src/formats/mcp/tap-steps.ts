import type { RawRecord } from '../../adapter.ts';
import type { DraftTool, GapNote } from '../../build/draft.ts';
import { readCalls } from './mcp.ts';

/** The view of one server's tap, for a trace with other evidence. */
export interface TapEvidence {
  readonly server: string;
  readonly records: readonly RawRecord[];
}

/** The tapped calls as steps. A tap that is unreadable or incomplete is a gap. */
export function tapSteps(taps: readonly TapEvidence[]): {
  readonly steps: DraftTool[];
  readonly gaps: GapNote[];
} {
  const steps: DraftTool[] = [];
  const gaps: GapNote[] = [];
  for (const { server, records } of taps) {
    const read = readCalls(records);
    if (
      read === undefined ||
      records.some(({ value }) => (value as { dropped?: unknown }).dropped !== undefined)
    )
      gaps.push({ gap: 'tapBroken', detail: JSON.stringify(server.slice(0, 60)) });
    // The ids of messages are not those of the model's calls.
    for (const { callId: _, ...step } of read ?? []) steps.push({ ...step, server });
  }
  return { steps, gaps };
}
