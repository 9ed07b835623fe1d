import { type Fields, isFields } from '@agentci/trace';
import { UNNAMED } from '../../build/blocks.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Draft, GapNote, Turn } from '../../build/draft.ts';
import { turnOfText } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { usageOf } from '../../build/token-usage.ts';
import { argumentsOf, fields, label, objects, resultOf, text, time } from '../../build/values.ts';

export interface AssistantRun {
  readonly id: string;
  readonly run: Fields;
  readonly steps: readonly Fields[];
  /** The recording ends before the list of steps does. */
  readonly isCut: boolean;
}

/** A run of an assistant: every step is a reply that calls tools or has text. */
export function assistantRun(
  { id, run, steps, isCut }: AssistantRun,
  messages: readonly Fields[],
  format: string,
): Draft {
  const dialogue = new Dialogue();
  const first = Math.min(
    ...steps.map((step) => time(step.created_at) ?? Number.POSITIVE_INFINITY),
    time(run.created_at) ?? Number.POSITIVE_INFINITY,
  );
  for (const message of inOrder(messages))
    if (message.role === 'user' && (time(message.created_at) ?? 0) <= first)
      dialogue.hear(turnOfText('user', wordsIn(message)));
  const byId = new Map(messages.map((message) => [label(message.id), message]));
  const gaps: GapNote[] = isCut ? [{ gap: 'absentChildren', detail: 'further steps' }] : [];
  for (const step of inOrder(steps)) {
    const details = fields(step.step_details);
    if (details.type === 'tool_calls' || Array.isArray(details.tool_calls)) {
      const asked = objects(details.tool_calls);
      if (asked.length === 0) gaps.push({ gap: 'askedForTools' });
      dialogue.reply(
        { role: 'assistant', parts: [], calls: asked.map(callOf) },
        { ...aboutStep(run, step), finish: 'tool_calls' },
      );
      dialogue.hear(...asked.flatMap(resultsOf));
      continue;
    }
    const message = byId.get(label(fields(details.message_creation).message_id));
    if (message === undefined)
      gaps.push({ gap: 'absentChildren', detail: 'a message of the assistant' });
    else dialogue.reply(turnOfText('assistant', wordsIn(message)), aboutStep(run, step));
  }
  const waiting = waitingCalls(run, steps);
  if (waiting.length > 0)
    dialogue.reply(
      { role: 'assistant', parts: [], calls: waiting.map(callOf) },
      { finish: 'tool_calls' },
    );
  const usage = usageOf(run.usage);
  const answer = inOrder(messages).findLast(
    ({ role, run_id }) => role === 'assistant' && (id === '' || run_id === id),
  );
  const error = isFields(run.last_error) ? run.last_error : undefined;
  return {
    source: { format },
    id: id !== '' ? id : undefined,
    steps: dialogue.steps,
    turns: dialogue.turns,
    // A run or message alone does not show its calls.
    records: steps.length > 0 ? MESSAGES_RECORD : {},
    gaps,
    final: answer === undefined ? undefined : { text: wordsIn(answer) },
    reported: usage === undefined ? undefined : { usage },
    status: error === undefined ? statusOf(run.status) : ('error' as const),
    error:
      error === undefined ? undefined : { message: label(error.message), type: label(error.code) },
    meta: { assistant: label(run.assistant_id), thread: label(run.thread_id) },
  };
}

const aboutStep = (run: Fields, step: Fields) => ({
  provider: 'openai',
  model: label(run.model),
  usage: usageOf(step.usage),
  t0: time(step.created_at),
  t1: time(step.completed_at),
  status: step.status === 'failed' ? ('error' as const) : undefined,
});

/** Calls that the run waits for and no step has. */
function waitingCalls(run: Fields, steps: readonly Fields[]): Fields[] {
  const known = new Set(
    steps.flatMap((step) =>
      objects(fields(step.step_details).tool_calls).map((call) => label(call.id)),
    ),
  );
  return objects(fields(fields(run.required_action).submit_tool_outputs).tool_calls).filter(
    (call) => !known.has(label(call.id)),
  );
}

const inOrder = (list: readonly Fields[]): Fields[] =>
  list.toSorted((a, b) => (time(a.created_at) ?? 0) - (time(b.created_at) ?? 0));

function statusOf(status: unknown): Draft['status'] {
  if (status === 'failed' || status === 'expired') return 'error';
  return status === undefined || status === 'completed' ? undefined : 'incomplete';
}

/** A function call, or a provider tool named by its kind. */
function callOf(call: Fields): Call {
  const kind = label(call.type) ?? 'function';
  const inner = fields(call[kind]);
  const id = label(call.id);
  if (kind === 'function')
    return {
      name: label(inner.name) ?? UNNAMED,
      ...argumentsOf(inner.arguments),
      id,
    };
  const given = inner.input;
  return {
    name: kind,
    by: 'provider',
    args: typeof given === 'string' ? { input: given } : {},
    id,
  };
}

function resultsOf(call: Fields): Turn[] {
  const inner = fields(call[label(call.type) ?? 'function']);
  const output = inner.output ?? inner.outputs ?? inner.results;
  const id = label(call.id);
  if (output === undefined || output === null) return [];
  return [{ role: 'tool', parts: [], callId: id, result: resultOf(output) }];
}

const wordsIn = (message: Fields): string =>
  typeof message.content === 'string'
    ? message.content
    : objects(message.content)
        .flatMap((part) => text(fields(part.text).value) ?? text(part.text) ?? [])
        .join('\n');
