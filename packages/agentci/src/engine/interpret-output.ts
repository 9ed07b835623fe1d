import { readTraceItems } from '../adapters/read-traces.ts';
import { AgentError, type RunOutput } from '../runners/runner.ts';
import type { Message, Trace } from '../trace/model.ts';
import { simpleTrace } from '../trace/simple.ts';

/** Below this a JSON document is somebody's answer, not a recording. */
const SURE = 0.5;

/** Reads what an agent gave back: a recording in any known format, or else the answer itself. */
export async function interpretOutput(output: RunOutput, asked: { id: string; query: string }): Promise<Trace> {
  const trace =
    typeof output.value === 'string' ? await fromText(output.value, output) : await fromValue(output.value, output);
  return complete(trace, output, asked);
}

/** Reads a recording a caller already has. Nobody timed it here, so nothing is added about time. */
export async function interpretRecording(value: unknown, asked: { id: string; query: string }): Promise<Trace> {
  const output: RunOutput = { value, wallMs: 0 };
  const trace = typeof value === 'string' ? await fromText(value, output) : await fromValue(value, output);
  return { ...trace, task: askedTask(trace, asked) };
}

async function fromText(text: string, output: RunOutput): Promise<Trace> {
  const trimmed = text.trim();
  if (!/^[{[]/.test(trimmed)) return simpleTrace(trimmed);
  // Every format is known there; an agent that answers in words needs none of them.
  const { detectFormat } = await import('../adapters/detect.ts');
  if (detectFormat(trimmed).confidence >= SURE) return single(trimmed, output);
  // A JSON answer is an answer; JSON that was cut off is not.
  if (/^(\{"|\[\{)/.test(trimmed) && !isJson(trimmed)) {
    throw new AgentError('agent', 'the output looks like JSON but does not parse', { stderr: output.stderr });
  }
  return simpleTrace(trimmed);
}

async function fromValue(value: unknown, output: RunOutput): Promise<Trace> {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new AgentError('agent', `the agent returned a value that is not JSON: ${(error as Error).message}`, {
      stderr: output.stderr,
    });
  }
  if (text === undefined)
    throw new AgentError('agent', `the agent returned ${typeof value}`, { stderr: output.stderr });
  if (typeof value !== 'object') return simpleTrace(String(value));
  return single(text, output);
}

async function single(text: string, output: RunOutput): Promise<Trace> {
  const traces: Trace[] = [];
  for await (const item of readTraceItems(new TextEncoder().encode(text))) {
    if (!item.ok)
      throw new AgentError('agent', `the output cannot be read as a trace: ${item.problem.message}`, {
        stderr: output.stderr,
      });
    traces.push(item.trace);
  }
  const [trace] = traces;
  if (trace === undefined || traces.length > 1) {
    throw new AgentError('agent', `the output holds ${traces.length} traces instead of one`, { stderr: output.stderr });
  }
  return trace;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Adds what the runner knows and the agent did not say: the question, and the wall time. */
function complete(trace: Trace, output: RunOutput, asked: { id: string; query: string }): Trace {
  const timed =
    trace.reported?.durationMs !== undefined || (trace.startedAt !== undefined && trace.endedAt !== undefined);
  return {
    ...trace,
    task: askedTask(trace, asked),
    reported: withClock(trace, output, timed),
    ...(trace.resources === undefined && output.resources ? { resources: [...output.resources] } : {}),
    captured: timed || trace.captured.timing !== 'none' ? trace.captured : { ...trace.captured, timing: 'partial' },
  };
}

/** The runner's clock, unless the agent says itself how long it took. Times of spans do not count: they depend on what is instrumented. */
const withClock = (
  trace: Trace,
  { wallMs, coldStartMs }: RunOutput,
  timed: boolean,
): NonNullable<Trace['reported']> => ({
  ...trace.reported,
  ...(timed ? {} : { durationMs: wallMs }),
  ...(trace.reported?.durationMs === undefined ? { wallMs } : {}),
  ...(coldStartMs === undefined ? {} : { coldStartMs }),
});

function askedTask({ task }: Trace, { id, query }: { id: string; query: string }): NonNullable<Trace['task']> {
  const input: Message[] = task?.input ?? [{ role: 'user', parts: [{ type: 'text', text: query }] }];
  return { ...task, id, input };
}
