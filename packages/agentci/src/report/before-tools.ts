import { readTraces } from '@agentci/formats';
import type { RunResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import { recordingOf, TraceMatcher } from '@agentci/run';
import { toolNames } from '@agentci/trace';

/** Longer sequences are not readable side by side. */
const MAX_TOOLS = 1000;

/**
 * The tools that each query of an earlier run called in its first repeat. Empty if the recordings
 * are unreadable.
 */
export async function beforeTools(
  run: RunResult,
  traces: string,
): Promise<Map<string, string[] | null>> {
  const found = new Map<string, string[] | null>();
  const matcher = new TraceMatcher(run.results, (result) => result.runs?.length ?? 1);
  try {
    for await (const trace of readTraces(traces, { onProblem: () => undefined })) {
      const match = matcher.take(recordingOf(trace));
      if (match.kind !== 'run' || found.has(caseText(match.query))) continue;
      found.set(
        caseText(match.query),
        trace.captured.toolCalls === 'none' ? null : toolNames(trace).slice(0, MAX_TOOLS),
      );
    }
  } catch {
    // Traces read so far count. The page says that the rest has no recording.
  }
  return found;
}
