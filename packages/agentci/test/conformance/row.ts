import { readFileSync } from 'node:fs';
import { detectFormat, readTraceItems } from '@agentci/formats';
import type { ToolStep, Trace } from '@agentci/trace';
import { finalText, handoffs, type Quantity, queryText, toolCalls, totals } from '@agentci/trace';

/** The expected content of a recording, short enough to be checked by eye. */
export interface TraceRow {
  readonly query: string | null;
  /** `name(arguments)`, with ` !` for a failed call and ` ?` if success is not recorded. */
  readonly tools: readonly string[];
  readonly results: readonly (string | null)[];
  readonly handoffs: readonly string[];
  readonly agents: readonly string[];
  /** Null if the recording does not have it. */
  readonly tokens: {
    readonly input: number | null;
    readonly output: number | null;
    readonly total: number | null;
  };
  readonly llm_calls: number | null;
  readonly answer: string | null;
  readonly status: Trace['status'];
  readonly dialects?: readonly string[];
}

export interface FileRow {
  readonly format: string | null;
  readonly traces: readonly TraceRow[];
  readonly problems: readonly string[];
}

/** Reads a recording like every command does. */
export async function rowOfFile(path: string): Promise<FileRow> {
  const traces: Trace[] = [];
  const problems: string[] = [];
  for await (const item of readTraceItems(path)) {
    if (item.ok) traces.push(item.trace);
    else problems.push(item.problem.code);
  }
  // Our own traces keep the name of their original format, but this needs the format of the file.
  const { format } = detectFormat(readFileSync(path));
  return {
    format: traces.length === 0 ? null : (format ?? null),
    traces: traces.map(rowOf),
    problems,
  };
}

export function rowOf(trace: Trace): TraceRow {
  const { inputTokens, outputTokens, totalTokens, llmCalls } = totals(trace);
  const calls = toolCalls(trace);
  return {
    query: short(queryText(trace), 60),
    tools: calls.map(callText),
    results: calls.map(({ result, error }) =>
      result === undefined ? short(error?.message, 60) : short(result, 60),
    ),
    handoffs: handoffs(trace).map(({ from, to, mode }) => `${from} > ${to} (${mode})`),
    agents: trace.agents.map(({ name }) => name),
    tokens: { input: exact(inputTokens), output: exact(outputTokens), total: exact(totalTokens) },
    llm_calls: exact(llmCalls),
    answer: short(finalText(trace), 60),
    status: trace.status,
    ...(trace.source.dialects === undefined ? {} : { dialects: trace.source.dialects }),
  };
}

const exact = (quantity: Quantity): number | null => (quantity.exact ? quantity.value : null);

const MARKS: Readonly<Record<string, string>> = { ok: '', unknown: ' ?' };

const callText = ({ name, args, argsRaw, status }: ToolStep): string =>
  `${name}(${short(args ?? argsRaw, 100) ?? '-'})${MARKS[status] ?? ' !'}`;

/** Prefix and length identify a text without storing it. */
function short(value: unknown, length: number): string | null {
  if (value === undefined) return null;
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ');
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length})`;
}
