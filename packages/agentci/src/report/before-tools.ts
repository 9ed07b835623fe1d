import { readTraces } from '@agentci/formats';
import type { RunResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import { recordingOf, TraceMatcher } from '@agentci/run';
import { toolNames } from '@agentci/trace';

/** Longer sequences are not laid beside each other by a reader either. */
const MAX_TOOLS = 1000;

/** The tools each query of an earlier run called, of its first run; empty where the recordings cannot be read. */
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
    // What was read counts; the page says of the rest that it has no recording.
  }
  return found;
}
