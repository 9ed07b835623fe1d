import { UserError } from '@agentci/lib/problems';
import { runSuite } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { parseSpec } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { validateTrace } from '@agentci/trace';
import { isFailedRun } from './summarize-traces.ts';

/**
 * Tries the suite before it is written: the spec must load, every trace must be readable, and every
 * query must find its recording and pass. Recordings of failures may fail, because that is their
 * purpose. Returns the suite and remarks.
 */
export async function trySpec(made: {
  readonly text: string;
  readonly file: string;
  readonly traces: readonly Trace[];
}): Promise<{ readonly suite: Suite; readonly notes: readonly string[] }> {
  const { suite, diagnostics } = parseSpec(made.text, { file: made.file });
  if (suite === undefined) throw broken(`the spec does not load: ${diagnostics[0]?.message ?? ''}`);
  const traces = made.traces.map((trace) => {
    const checked = validateTrace(JSON.parse(JSON.stringify(trace)));
    if (!checked.ok)
      throw broken(
        `the trace "${trace.id}" does not read back: ${checked.issues[0]?.message ?? ''}`,
      );
    return checked.trace;
  });
  const { results } = await runSuite({ suite, traces, judge: 'off' });
  const failed = new Set(
    traces.flatMap((trace) => (isFailedRun(trace) ? [trace.task?.id ?? ''] : [])),
  );
  const notes: string[] = [];
  for (const { id, status, error, conversation } of results) {
    if (status === 'pass' || status === 'warn') continue;
    // The recording ends in the middle of a conversation, so the next answer of the agent is
    // unknown.
    if (error?.kind === 'trace' && conversation !== undefined) {
      notes.push(`"${id}" is ${status} on its recording: ${error.message}`);
      continue;
    }
    if (!failed.has(id))
      throw broken(
        `"${id}" is ${status} on its own recording${error === undefined ? '' : `: ${error.message}`}`,
      );
    notes.push(`"${id}" is ${status} on its recording, as the run was`);
  }
  return { suite, notes };
}

/** A bug in AgentCI, not a mistake of the user: generated files must work. */
const broken = (what: string): UserError =>
  new UserError('INTERNAL_FAULT', `${what}; nothing was written`, {
    hint: 'Please report it, with "agentci import --json" of the recording.',
  });
