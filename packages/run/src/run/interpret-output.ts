import { readTraceItems } from '@agentci/formats';
import { defined } from '@agentci/lib/data';
import { duplicateKeyIn } from '@agentci/lib/json';
import { isVisible } from '@agentci/lib/text';
import type { Cell } from '@agentci/results';
import type { Message, Trace } from '@agentci/trace';
import { finalText, queryText, simpleTrace, TRACE_LIMITS } from '@agentci/trace';
import { errorIn } from '../runners/answer.ts';
import { AgentError, type PointedAnswer, type RunOutput } from '../runners/runner.ts';
import { findRecording } from './find-recording.ts';
import { mergeTraces } from './merge-traces.ts';
import { withPointedAnswer } from './pointed-answer.ts';
import { stripLogs } from './strip-logs.ts';

/** The question to the agent, and its combination of the matrix. */
interface Asked {
  readonly id: string;
  readonly query: string;
  readonly cell?: Cell;
  /**
   * The other queries of the suite. An agent that returns the recording of another query did not
   * answer this one.
   */
  readonly others?: OtherQueries;
}

/** Names and questions of the queries of a suite. */
export interface OtherQueries {
  readonly ids: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
}

/** Below this confidence a JSON document is an answer, not a recording. */
const SURE = 0.5;

/** Reads the output of the agent: a recording in any known format, otherwise the answer itself. */
export async function interpretOutput(output: RunOutput, asked: Asked): Promise<Trace> {
  const trace =
    output.answer === undefined ? await read(output) : await readAround(output, output.answer);
  refuseLongAnswer(trace);
  refuseOther(trace, asked);
  const quiet = typeof output.value === 'string' ? stripLogs(trace, output.seen?.trace) : trace;
  const visible = withVisibleAnswer(quiet);
  return complete(
    output.seen === undefined ? visible : mergeTraces(visible, output.seen),
    output,
    asked,
  );
}

const read = (output: RunOutput): Promise<Trace> =>
  typeof output.value === 'string'
    ? fromText(output.value, output)
    : fromValue(output.value, output);

/**
 * A longer answer could be judged now but not stored in a trace. Other runners stop reading
 * earlier.
 */
function refuseLongAnswer(trace: Trace): void {
  const { length } = finalText(trace) ?? '';
  if (length > TRACE_LIMITS.textLength)
    throw new AgentError(
      'agent',
      `the answer has ${length} characters, and a trace holds at most ${TRACE_LIMITS.textLength}`,
    );
}

/** A recording that names another query proves nothing about this one. */
function refuseOther(trace: Trace, { id, query, others }: Asked): void {
  if (others === undefined) return;
  const named = [trace.task?.id, trace.id].find(
    (one) => one !== undefined && one !== id && others.ids.has(one),
  );
  const text = queryText(trace);
  const isOtherText = text !== undefined && text !== query && others.texts.has(text);
  if (named === undefined && !isOtherText) return;
  const what =
    named === undefined ? `is of ${JSON.stringify(text)}` : `has the id ${JSON.stringify(named)}`;
  throw new AgentError('agent', `the agent answered another query: its recording ${what}`);
}

/**
 * An answer without visible text counts as missing. The steps of the run can be judged, the answer
 * cannot.
 */
function withVisibleAnswer(trace: Trace): Trace {
  const text = finalText(trace);
  if (text === undefined || isVisible(text)) return trace;
  const { final: _, ...rest } = trace;
  return {
    ...rest,
    captured: { ...trace.captured, final: 'none' },
    warnings: [...trace.warnings, { code: 'ANSWER_EMPTY', message: 'the answer is empty' }],
  };
}

/** Reads an existing recording. It was not timed here, so no times are added. */
export async function interpretRecording(
  value: unknown,
  asked: { id: string; query: string },
): Promise<Trace> {
  const output: RunOutput = { value, wallMs: 0 };
  const trace = await read(output);
  return { ...trace, task: askedTask(trace, asked) };
}

async function fromText(text: string, output: RunOutput): Promise<Trace> {
  const trimmed = text.trim();
  if (!/^[ \t]*[{[]|\{\s*"/m.test(trimmed)) return simpleTrace(trimmed);
  // Formats are large to load. An agent that answers in words needs none of them.
  if (output.acceptsErrors && isErrorObject(trimmed)) return simpleTrace(trimmed);
  const { detectFormat } = await import('@agentci/formats/detect');
  const isRecording = (json: string): boolean =>
    detectFormat(json).confidence >= SURE || showsCalls(json);
  if (isJson(trimmed))
    return isRecording(trimmed) && !isPlainList(JSON.parse(trimmed))
      ? single(trimmed, output)
      : simpleTrace(trimmed);
  const found = findRecording(trimmed, isRecording);
  if (found.kind === 'refused') throw new AgentError('agent', found.why, { stderr: output.stderr });
  if (found.kind === 'none') return simpleTrace(trimmed);
  const trace = await single(found.text, output);
  return found.noise.length === 0
    ? trace
    : { ...trace, warnings: [...trace.warnings, noiseWarning(found.noise)] };
}

/**
 * Reads the document around an answer that the spec points at. If it is not a recording, it is in
 * the server's own form.
 */
async function readAround(output: RunOutput, answer: PointedAnswer): Promise<Trace> {
  if (isNothingElse(answer)) return withPointedAnswer(undefined, answer);
  const around = answer.body ?? output.value;
  const text = JSON.stringify(around);
  const isWhole = answer.body === undefined;
  if (!isWhole && !(await isRecordingText(text))) return withPointedAnswer(undefined, answer);
  try {
    return withPointedAnswer(await single(text, output), answer);
  } catch (error) {
    if (isWhole || !(error instanceof AgentError)) throw error;
    return withPointedAnswer(undefined, answer);
  }
}

/** A body with only the answer has no facts about the run. */
function isNothingElse({ body, text }: PointedAnswer): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const values = Object.values(body);
  return values.length === 1 && values[0] === text;
}

/**
 * A document with a list of tool calls is evidence of the run. If it is unreadable, it must not
 * count as the answer.
 */
function showsCalls(json: string): boolean {
  if (!json.includes('"tool_calls"')) return false;
  try {
    const value = JSON.parse(json) as { tool_calls?: unknown } | null;
    // A document with duplicate keys is an ambiguous recording and is rejected.
    if (duplicateKeyIn(json, value) !== undefined) return true;
    const calls = value?.tool_calls;
    return Array.isArray(calls) && calls.some((call) => typeof call === 'object' && call !== null);
  } catch {
    return false;
  }
}

/** A list of texts and numbers is an answer, not a list of runs. */
const isPlainList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null);

async function isRecordingText(json: string): Promise<boolean> {
  const { detectFormat } = await import('@agentci/formats/detect');
  return detectFormat(json).confidence >= SURE;
}

const MAX_NOISE = 80;

function noiseWarning(noise: readonly string[]): Trace['warnings'][number] {
  const [first = ''] = noise;
  const shown = JSON.stringify(first.trim().slice(0, MAX_NOISE));
  const lines = noise.length === 1 ? '1 line' : `${noise.length} lines`;
  return {
    code: 'OUTPUT_NOISE',
    message: `${lines} printed around the recording, ignored: ${shown}`,
  };
}

async function fromValue(value: unknown, output: RunOutput): Promise<Trace> {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new AgentError(
      'agent',
      `the agent returned a value that is not JSON: ${(error as Error).message}`,
      {
        stderr: output.stderr,
      },
    );
  }
  if (text === undefined)
    throw new AgentError('agent', `the agent returned ${typeof value}`, { stderr: output.stderr });
  if (typeof value !== 'object') return simpleTrace(String(value));
  if (Array.isArray(value) && (isPlainList(value) || !(await isRecordingText(text))))
    return simpleTrace(text);
  if (output.acceptsErrors && errorIn(value) !== undefined) return simpleTrace(text);
  return single(text, output);
}

async function single(text: string, output: RunOutput): Promise<Trace> {
  const traces: Trace[] = [];
  for await (const item of readTraceItems(new TextEncoder().encode(text))) {
    if (!item.ok)
      throw new AgentError(
        'agent',
        `the output cannot be read as a trace: ${item.problem.message}`,
        {
          stderr: output.stderr,
        },
      );
    traces.push(item.trace);
  }
  const [trace] = traces;
  if (trace === undefined || traces.length > 1) {
    throw new AgentError('agent', `the output holds ${traces.length} traces instead of one`, {
      stderr: output.stderr,
    });
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

function isErrorObject(text: string): boolean {
  try {
    return errorIn(JSON.parse(text)) !== undefined;
  } catch {
    return false;
  }
}

/** Adds the question and the wall time if the agent did not report them. */
function complete(trace: Trace, output: RunOutput, asked: Asked): Trace {
  const timed =
    trace.reported?.durationMs !== undefined ||
    (trace.startedAt !== undefined && trace.endedAt !== undefined);
  return {
    ...trace,
    task: askedTask(trace, asked),
    meta: asked.cell === undefined ? trace.meta : { ...trace.meta, cell: asked.cell },
    warnings:
      output.warnings === undefined ? trace.warnings : [...trace.warnings, ...output.warnings],
    reported: withClock(trace, output, timed),
    resources:
      trace.resources === undefined && output.resources ? [...output.resources] : trace.resources,
    captured:
      timed || trace.captured.timing !== 'none'
        ? trace.captured
        : { ...trace.captured, timing: 'partial' },
  };
}

/**
 * Uses the runner's clock unless the agent reports its own duration. Times of spans do not count,
 * because they depend on the instrumentation.
 */
const withClock = (
  trace: Trace,
  { wallMs, ttftMs, coldStartMs }: RunOutput,
  timed: boolean,
): NonNullable<Trace['reported']> => ({
  ...trace.reported,
  ...(timed ? {} : { durationMs: wallMs }),
  ...defined({ ttftMs }),
  ...(trace.reported?.durationMs === undefined ? { wallMs } : {}),
  ...defined({ coldStartMs }),
});

function askedTask(
  { task }: Trace,
  { id, query }: { id: string; query: string },
): NonNullable<Trace['task']> {
  const input: Message[] = task?.input ?? [
    { role: 'user', parts: [{ type: 'text', text: query }] },
  ];
  return { ...task, id, input };
}
