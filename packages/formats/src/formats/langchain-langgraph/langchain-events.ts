import { type Fields, isFields } from '@agentci/trace';
import type { RawRecord } from '../../adapter.ts';
import type { Draft, DraftStep } from '../../build/draft.ts';
import { TRACING_RECORD } from '../../build/records.ts';
import { fields, label } from '../../build/values.ts';
import { isControlFlow, runStep } from '../langsmith/langsmith-run.ts';

/** An event of `streamEvents`: something started, streamed or ended. */
export const isStreamEvent = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.event === 'string' &&
  /^on_(?:chain|chat_model|llm|tool|retriever|prompt|parser|custom)_?/.test(value.event) &&
  'run_id' in value;

interface OpenRun {
  readonly name: string;
  readonly type: string;
  readonly parent: string | undefined;
  readonly metadata: Fields;
  input: unknown;
  output: unknown;
  error: unknown;
  isDone: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  chat_model: 'llm',
  llm: 'llm',
  tool: 'tool',
  retriever: 'retriever',
};

/** The runs behind the events, joined from start and end. */
export function streamDraft(records: readonly RawRecord[], format: string): Draft {
  const runs = new Map<string, OpenRun>();
  for (const { value } of records) {
    if (!isStreamEvent(value)) continue;
    const match = /^on_(\w+?)_(start|stream|end|error)$/.exec(String(value.event));
    const id = label(value.run_id);
    if (match === null || id === undefined || match[2] === 'stream') continue;
    const data = fields(value.data);
    const run = runs.get(id) ?? openRun(value, match[1]!);
    if (data.input !== undefined && run.input === undefined) run.input = data.input;
    if (match[2] === 'end') run.output = data.output;
    if (match[2] === 'error') run.error = data.error ?? 'error';
    run.isDone ||= match[2] !== 'start';
    runs.set(id, run);
  }
  const steps = [...runs].map(
    ([id, run]): DraftStep => runStep({ ...run, id, inputs: run.input, outputs: run.output }),
  );
  const root = [...runs.values()][0];
  const isFailed = root?.error !== undefined && !isControlFlow(root.error);
  let status: 'error' | 'incomplete' | undefined;
  if (isFailed) status = 'error';
  else if (root?.isDone === false) status = 'incomplete';
  return {
    source: { format },
    steps,
    records: TRACING_RECORD,
    speakersHandOff: true,
    status,
  };
}

function openRun(event: Fields, kind: string): OpenRun {
  const parents = Array.isArray(event.parent_ids) ? event.parent_ids : [];
  return {
    name: label(event.name) ?? 'unknown',
    type: Object.hasOwn(TYPES, kind) ? TYPES[kind]! : 'chain',
    parent: label(parents.at(-1)),
    metadata: fields(event.metadata),
    input: undefined,
    output: undefined,
    error: undefined,
    isDone: false,
  };
}
