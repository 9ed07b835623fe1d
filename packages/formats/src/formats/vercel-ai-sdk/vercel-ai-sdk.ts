import { present } from '@agentci/lib/data';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, RawRecord } from '../../adapter.ts';
import { contentOf } from '../../build/blocks.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation, type Reply } from '../../build/conversation.ts';
import type { Draft, GapNote, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns, roleOf } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { usageOf } from '../../build/token-usage.ts';
import { amount, fields, label, objects, pick, time } from '../../build/values.ts';
import { joinParts, partLikeness } from './streamed-parts.ts';

const FORMAT = 'vercel-ai-sdk';
const RECORDS: Draft['records'] = AGENT_RECORD;

/** The Vercel AI SDK, versions 4 to 7: steps of a run, its messages, or the messages of its user interface. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Vercel AI SDK: steps (v4–v7), model messages, UI messages, UI message streams',
  unit: (sample) =>
    sample.every((value) => stepsOf(value) !== undefined || messagesOf(value) !== undefined)
      ? 'record'
      : 'file',
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
    if (values.every((value) => partLikeness(value) > 0))
      return tryBuild(first, () => streamDraft(values));
    return tryBuild(first, () =>
      isStep(first.value) ? stepsDraft(values) : messagesDraft(values),
    );
  },
};

function likeness(value: unknown): number {
  if (isStep(value)) return 0.95;
  const part = partLikeness(value);
  if (part > 0) return part;
  const steps = stepsOf(value);
  if (steps !== undefined) return 0.95;
  const messages = messagesOf(value);
  return messages === undefined
    ? messageLikeness(value)
    : Math.max(...messages.slice(0, 50).map(messageLikeness));
}

const isStep = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.finishReason === 'string' &&
  isFields(value.usage) &&
  (Array.isArray(value.content) ||
    Array.isArray(value.toolCalls) ||
    typeof value.text === 'string') &&
  ('response' in value || 'request' in value || 'stepType' in value);

/** Of the steps of a result only some of the fields may have been kept. */
const isPartOfStep = (value: unknown): value is Fields =>
  isFields(value) &&
  typeof value.finishReason === 'string' &&
  (Array.isArray(value.content) ||
    Array.isArray(value.toolCalls) ||
    typeof value.text === 'string');

/** The steps of a run, or the run itself if its result has none. */
const stepsOf = (value: unknown): readonly Fields[] | undefined => {
  if (!isFields(value)) return undefined;
  const { steps } = value;
  if (Array.isArray(steps) && steps.length > 0)
    return steps.every(isStep) || (isPartOfStep(value) && steps.every(isPartOfStep))
      ? steps
      : undefined;
  const isResult =
    isPartOfStep(value) && Array.isArray(value.toolCalls) && Array.isArray(value.toolResults);
  return isResult && !isStep(value) ? [value] : undefined;
};
const messagesOf = (value: unknown): readonly unknown[] | undefined => {
  const messages = isFields(value) ? value.messages : undefined;
  return Array.isArray(messages) && messages.some((message) => messageLikeness(message) >= 0.9)
    ? messages
    : undefined;
};

const PARTS = /^(?:tool-call|tool-result|tool-error)$/;

/** Parts in the SDK's form. Every conversation has plain text parts. */
function messageLikeness(message: unknown): number {
  if (!isFields(message) || roleOf(message.role) === undefined) return 0;
  const parts = objects(Array.isArray(message.parts) ? message.parts : message.content);
  if (Array.isArray(message.parts) && parts.some(isUiTool)) return 0.95;
  if (parts.some(({ type }) => typeof type === 'string' && PARTS.test(type))) return 0.95;
  if (Array.isArray(message.parts)) {
    if (parts.length > 0 && 'id' in message && parts.every(isUiPart))
      return parts.some(isTelling) ? 0.9 : 0.6;
    return 0;
  }
  return typeof message.content === 'string' || parts.length > 0 ? 0.2 : 0;
}

/** UI message parts that no other format has. */
const isUiPart = (part: Fields): boolean =>
  isTelling(part) ||
  ((part.type === 'text' || part.type === 'reasoning') && typeof part.text === 'string');
const isTelling = ({ type }: Fields): boolean =>
  typeof type === 'string' &&
  /^(?:step-start|source(?:-url|-document)?|file|tool-invocation|data-.+)$/.test(type);

/** Version 4 wraps a call in an envelope. */
function uiPart(part: Fields): Fields {
  if (part.type !== 'tool-invocation' || !isFields(part.toolInvocation)) return part;
  const { toolName, toolCallId, state, args, result } = part.toolInvocation;
  const isDone = state === 'result';
  return {
    type: 'dynamic-tool',
    toolName,
    toolCallId,
    input: args,
    state: isDone ? 'output-available' : 'input-available',
    output: isDone ? result : undefined,
  };
}

const isUiTool = ({ type, toolCallId }: Fields): boolean =>
  typeof type === 'string' &&
  /^(?:tool-|dynamic-tool$)/.test(type) &&
  !PARTS.test(type) &&
  typeof toolCallId === 'string';

function wrapped(record: RawRecord): Draft {
  const value = fields(record.value);
  const steps = stepsOf(value);
  const draft = steps === undefined ? messagesDraft(messagesOf(value) ?? []) : stepsDraft(steps);
  const usage = steps === undefined ? undefined : usageOf(pick(value, 'totalUsage'));
  return {
    ...draft,
    id: label(value.id) ?? draft.id,
    reported: usage === undefined ? draft.reported : { usage },
  };
}

function messagesDraft(values: readonly unknown[]): Draft {
  const turns = values.flatMap((value) => {
    if (isFields(value)) return Array.isArray(value.parts) ? uiTurns(value) : messageTurns(value);
    return [];
  });
  return { source: { format: FORMAT }, ...conversation(turns), records: RECORDS };
}

/** A UI message has calls and results of several steps in one list. */
function uiTurns(message: Fields): Turn[] {
  if (message.role !== 'assistant')
    return messageTurns({ ...message, content: message.parts, parts: undefined });
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
    turns.push(
      ...messageTurns({ role: 'assistant', content: [...said, ...calls] }),
      ...tools.flatMap(uiResult),
    );
    blocks = [];
  };
  for (const part of objects(message.parts).map(uiPart)) {
    if (part.type === 'step-start') close();
    else blocks.push(part);
  }
  close();
  return turns;
}

const uiName = (part: Fields): string =>
  (part.type === 'dynamic-tool' ? label(part.toolName) : label(part.type)?.replace(/^tool-/, '')) ??
  'unknown';

function uiResult(part: Fields): Turn[] {
  if (part.state === 'output-error')
    return contentOf([{ type: 'tool-error', toolCallId: part.toolCallId, error: part.errorText }])
      .results;
  return part.state === 'output-available'
    ? contentOf([{ type: 'tool-result', toolCallId: part.toolCallId, output: part.output }]).results
    : [];
}

function stepsDraft(values: readonly unknown[]): Draft {
  const steps = values.filter(isPartOfStep);
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
        result.status === 'error' && result.callId !== undefined
          ? (told.get(result.callId) ?? result)
          : result,
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

/** A stream of parts that was kept as a list. */
function streamDraft(values: readonly unknown[]): Draft {
  const { steps, isCutOff } = joinParts(values);
  const draft = stepsDraft(steps);
  if (!isCutOff) return draft;
  const last = draft.steps.findLastIndex(({ kind }) => kind === 'llm');
  return {
    ...draft,
    steps: draft.steps.map((step, i) => (i === last ? { ...step, gap: 'cutOff' as const } : step)),
  };
}

/** Steps are numbered from the first, and each repeats the earlier messages. */
function missingSteps(steps: readonly Fields[]): GapNote[] {
  const isNumbered = steps.every(({ stepNumber }) => typeof stepNumber === 'number');
  const isOutOfStep = isNumbered && steps.some(({ stepNumber }, i) => stepNumber !== i);
  const isHeadless = typeof steps[0]?.stepType === 'string' && steps[0].stepType !== 'initial';
  const held = new Set(
    steps.flatMap((step) => (stepTurns(step).turn.calls ?? []).map(({ id }) => id)),
  );
  const told = steps.flatMap(({ response }) =>
    objects(fields(response).messages).flatMap(messageTurns),
  );
  const isTold = told.some(({ calls }) =>
    calls?.some(({ id }) => id !== undefined && !held.has(id)),
  );
  return isOutOfStep || isHeadless || isTold ? [{ gap: 'absentChildren', detail: 'steps' }] : [];
}

function stepTurns(step: Fields): { turn: Turn; results: Turn[] } {
  const content = Array.isArray(step.content) ? step.content : oldContent(step);
  const { parts, calls, results } = contentOf(content);
  return {
    turn: { role: 'assistant', parts, calls: calls.length !== 0 ? calls : undefined },
    results,
  };
}

/** Version 4 has separate fields for text, calls and results, with `args` and `result`. */
const oldContent = (step: Fields): unknown[] =>
  present([
    typeof step.text === 'string' && step.text !== ''
      ? { type: 'text', text: step.text }
      : undefined,
    ...objects(step.toolCalls).map((call) => ({ ...call, type: 'tool-call' })),
    ...objects(step.toolResults).map((result) => ({ ...result, type: 'tool-result' })),
  ]);

function replyOf(step: Fields): Reply {
  const response = fields(step.response);
  const t0 = time(response.timestamp);
  const took = amount(fields(step.performance).responseTimeMs);
  return {
    model: label(response.modelId) ?? label(fields(step.model).modelId),
    provider: label(fields(step.model).provider),
    usage: usageOf(step.usage),
    finish: finishOf(step.finishReason),
    responseId: label(response.id),
    t0,
    t1: t0 === undefined || took === undefined ? undefined : t0 + took,
  };
}

/** The question is not in the steps, unless the request was stored. */
function promptOf(step: Fields | undefined): Turn[] {
  const body = fields(step?.request).body;
  const request = fields(typeof body === 'string' ? undefined : body);
  const list = pick(request, 'messages', 'input');
  return Array.isArray(list) ? list.filter(isFields).flatMap(messageTurns) : [];
}
