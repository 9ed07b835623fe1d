import { type Fields, isFields } from '../../../trace/fields.ts';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { contentOf } from '../../build/blocks.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation, type Reply } from '../../build/conversation.ts';
import { defined } from '../../build/defined.ts';
import type { Draft, GapNote, Turn } from '../../build/draft.ts';
import { MESSAGES_RECORD } from '../../build/exchanges.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns, roleOf } from '../../build/messages.ts';
import { usageOf } from '../../build/token-usage.ts';
import { amount, fields, label, objects, pick, time } from '../../build/values.ts';
import { isStreamPart, isTellingPart, joinParts } from './stream-parts.ts';

const FORMAT = 'vercel-ai-sdk';
const RECORDS: Draft['records'] = { ...MESSAGES_RECORD, toolErrors: 'full' };

/** The Vercel AI SDK, versions 4 to 7: steps of a run, its messages, the messages of its user interface, or the parts of a stream. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Vercel AI SDK: steps (v4–v7), model messages, UI messages, stream parts',
  unit: (sample) =>
    sample.every((value) => stepsOf(value) !== undefined || messagesOf(value) !== undefined) ? 'record' : 'file',
  detect: (sample) => {
    const scores = sample.map(likeness);
    return scores.length === 0 || scores.includes(0) ? 0 : Math.max(...scores);
  },
  read: (records) => {
    const [first] = records;
    if (first === undefined) return [];
    if (stepsOf(first.value) !== undefined || messagesOf(first.value) !== undefined)
      return records.flatMap((record) => tryBuild(record, () => wrapped(record)));
    const values = records.map((record) => record.value);
    if (isStreamPart(first.value)) return tryBuild(first, () => streamDraft(values.filter(isFields)));
    return tryBuild(first, () => (isStep(first.value) ? stepsDraft(values) : messagesDraft(values)));
  },
};

function likeness(value: unknown): number {
  if (isStep(value)) return 0.95;
  if (isStreamPart(value)) return isTellingPart(value) ? 0.95 : 0.4;
  const steps = stepsOf(value);
  if (steps !== undefined) return 0.95;
  const messages = messagesOf(value);
  return messages === undefined ? messageLikeness(value) : Math.max(...messages.slice(0, 50).map(messageLikeness));
}

const isStep = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.finishReason === 'string' &&
  isFields(value.usage) &&
  (Array.isArray(value.content) || Array.isArray(value.toolCalls) || typeof value.text === 'string') &&
  ('response' in value || 'request' in value || 'stepType' in value);

const stepsOf = (value: unknown): readonly unknown[] | undefined => {
  const steps = isFields(value) ? value.steps : undefined;
  return Array.isArray(steps) && steps.length > 0 && steps.every(isStep) ? steps : undefined;
};
const messagesOf = (value: unknown): readonly unknown[] | undefined => {
  const messages = isFields(value) ? value.messages : undefined;
  return Array.isArray(messages) && messages.some((message) => messageLikeness(message) >= 0.9) ? messages : undefined;
};

const PARTS = /^(?:tool-call|tool-result|tool-error)$/;

/** Parts in the words of the SDK; a plain text part is in every conversation. */
function messageLikeness(message: unknown): number {
  if (!isFields(message) || roleOf(message.role) === undefined) return 0;
  const parts = objects(Array.isArray(message.parts) ? message.parts : message.content);
  if (Array.isArray(message.parts) && parts.some(isUiTool)) return 0.95;
  if (parts.some(({ type }) => typeof type === 'string' && PARTS.test(type))) return 0.95;
  if (Array.isArray(message.parts))
    return parts.every(({ type }) => type === 'text' || type === 'step-start') && 'id' in message ? 0.3 : 0;
  return typeof message.content === 'string' || parts.length > 0 ? 0.2 : 0;
}

const isUiTool = ({ type, toolCallId }: Fields): boolean =>
  typeof type === 'string' &&
  /^(?:tool-|dynamic-tool$)/.test(type) &&
  !PARTS.test(type) &&
  typeof toolCallId === 'string';

function wrapped(record: RawRecord): Draft {
  const value = fields(record.value);
  const draft = stepsOf(value) === undefined ? messagesDraft(messagesOf(value) ?? []) : stepsDraft(stepsOf(value)!);
  return { ...draft, ...defined({ id: label(value.id) }) };
}

function streamDraft(parts: readonly Fields[]): Draft {
  const { turns, replies, gaps, id, failure } = joinParts(parts);
  return {
    source: { format: FORMAT, dialects: ['stream'] },
    ...conversation(turns, (turn) => replies.get(turn) ?? {}),
    records: { ...RECORDS, prompts: 'none' },
    gaps,
    ...defined({ id }),
    ...(failure === undefined ? {} : { status: 'error' as const, error: { message: failure } }),
  };
}

function messagesDraft(values: readonly unknown[]): Draft {
  const turns = values.flatMap((value) =>
    isFields(value) ? (Array.isArray(value.parts) ? uiTurns(value) : messageTurns(value)) : [],
  );
  return { source: { format: FORMAT }, ...conversation(turns), records: RECORDS };
}

/** A message of the interface holds calls and results of several steps in one list. */
function uiTurns(message: Fields): Turn[] {
  if (message.role !== 'assistant') return messageTurns({ ...message, content: message.parts, parts: undefined });
  const turns: Turn[] = [];
  let blocks: Fields[] = [];
  const close = (): void => {
    if (blocks.length === 0) return;
    const tools = blocks.filter(isUiTool);
    const said = blocks.filter((block) => !isUiTool(block));
    const calls = tools.map((part) => ({
      type: 'tool-call',
      toolCallId: part.toolCallId,
      toolName: uiName(part),
      input: part.input,
    }));
    turns.push(...messageTurns({ role: 'assistant', content: [...said, ...calls] }), ...tools.flatMap(uiResult));
    blocks = [];
  };
  for (const part of objects(message.parts)) {
    if (part.type === 'step-start') close();
    else blocks.push(part);
  }
  close();
  return turns;
}

const uiName = (part: Fields): string =>
  (part.type === 'dynamic-tool' ? label(part.toolName) : label(part.type)?.replace(/^tool-/, '')) ?? 'unknown';

function uiResult(part: Fields): Turn[] {
  if (part.state === 'output-error')
    return contentOf([{ type: 'tool-error', toolCallId: part.toolCallId, error: part.errorText }]).results;
  return part.state === 'output-available'
    ? contentOf([{ type: 'tool-result', toolCallId: part.toolCallId, output: part.output }]).results
    : [];
}

function stepsDraft(values: readonly unknown[]): Draft {
  const steps = values.filter(isStep);
  const told = new Map(
    steps
      .flatMap(({ response }) => objects(fields(response).messages).flatMap(messageTurns))
      .flatMap((turn) => (turn.callId === undefined ? [] : [[turn.callId, turn] as const])),
  );
  const facts = new Map<Turn, Reply>();
  const turns = steps.flatMap((step) => {
    const { turn, results } = stepTurns(step);
    facts.set(turn, replyOf(step));
    // An error prints as {}: its words are only in the messages.
    return [
      turn,
      ...results.map((result) =>
        result.status === 'error' && result.callId !== undefined ? (told.get(result.callId) ?? result) : result,
      ),
    ];
  });
  const asked = promptOf(steps[0]);
  return {
    source: { format: FORMAT },
    ...conversation([...asked, ...turns], (turn) => facts.get(turn) ?? {}),
    records: { ...RECORDS, prompts: asked.length === 0 ? 'none' : 'full' },
    gaps: missingSteps(steps),
  };
}

/** Steps are numbered, the first of them says so, and each repeats the messages of those before it. */
function missingSteps(steps: readonly Fields[]): GapNote[] {
  const isNumbered = steps.every(({ stepNumber }) => typeof stepNumber === 'number');
  const isOutOfStep = isNumbered && steps.some(({ stepNumber }, i) => stepNumber !== i);
  const isHeadless = typeof steps[0]?.stepType === 'string' && steps[0].stepType !== 'initial';
  const held = new Set(steps.flatMap((step) => (stepTurns(step).turn.calls ?? []).map(({ id }) => id)));
  const told = steps.flatMap(({ response }) => objects(fields(response).messages).flatMap(messageTurns));
  const isTold = told.some(({ calls }) => calls?.some(({ id }) => id !== undefined && !held.has(id)));
  return isOutOfStep || isHeadless || isTold ? [{ gap: 'absentChildren', detail: 'steps' }] : [];
}

function stepTurns(step: Fields): { turn: Turn; results: Turn[] } {
  const content = Array.isArray(step.content) ? step.content : oldContent(step);
  const { parts, calls, results } = contentOf(content);
  return { turn: { role: 'assistant', parts, ...(calls.length === 0 ? {} : { calls }) }, results };
}

/** Version 4 has text, calls and results in fields of their own, with `args` and `result`. */
const oldContent = (step: Fields): unknown[] => [
  ...(typeof step.text === 'string' && step.text !== '' ? [{ type: 'text', text: step.text }] : []),
  ...objects(step.toolCalls).map((call) => ({ ...call, type: 'tool-call' })),
  ...objects(step.toolResults).map((result) => ({ ...result, type: 'tool-result' })),
];

function replyOf(step: Fields): Reply {
  const response = fields(step.response);
  const t0 = time(response.timestamp);
  const took = amount(fields(step.performance).responseTimeMs);
  return defined({
    model: label(response.modelId) ?? label(fields(step.model).modelId),
    provider: label(fields(step.model).provider),
    usage: usageOf(step.usage),
    finish: finishOf(step.finishReason),
    responseId: label(response.id),
    t0,
    t1: t0 === undefined || took === undefined ? undefined : t0 + took,
  });
}

/** What was asked is not in the steps, unless the request was kept. */
function promptOf(step: Fields | undefined): Turn[] {
  const body = fields(step?.request).body;
  const request = fields(typeof body === 'string' ? undefined : body);
  const list = pick(request, 'messages', 'input');
  return Array.isArray(list) ? list.filter(isFields).flatMap(messageTurns) : [];
}
