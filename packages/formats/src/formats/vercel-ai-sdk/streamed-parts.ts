import { type Fields, isFields } from '@agentci/trace';
import { objects, parseJson } from '../../build/values.ts';
import { AiParts } from './ai-parts.ts';

/** Parts specific to this stream. Others (`start`, `finish`, `error`) are common. */
const TELLING =
  /^(?:start-step|finish-step|(?:text|reasoning)-(?:start|delta|end)|tool-(?:input|output)-(?:start|delta|available|error))$/;

/** How much a record looks like a part of the SDK's stream. */
export function partLikeness(value: unknown): number {
  if (!isFields(value) || !AiParts.knows(value) || 'role' in value || 'content' in value) return 0;
  return typeof value.type === 'string' && TELLING.test(value.type) ? 0.95 : 0.2;
}

/** The steps a stream of parts adds up to, and whether it came to its end. */
export function joinParts(values: readonly unknown[]): {
  readonly steps: readonly Fields[];
  readonly isCutOff: boolean;
} {
  const parts = new AiParts();
  for (const part of withWholeCalls(values.filter(isFields))) parts.add(part);
  return {
    steps: withoutToolSteps(parts.steps()),
    isCutOff: !parts.isFinished || parts.isAborted || parts.error !== undefined,
  };
}

/**
 * LangGraph's tools are separate steps without a model reply, and their results belong to the
 * requesting step.
 */
function withoutToolSteps(steps: readonly Fields[]): readonly Fields[] {
  const merged: Fields[] = [];
  for (const step of steps) {
    const content = objects(step.content);
    const before = merged.at(-1);
    const isResults =
      content.length > 0 &&
      content.every(({ type }) => type === 'tool-result' || type === 'tool-error');
    if (isResults && before !== undefined)
      merged[merged.length - 1] = { ...before, content: [...objects(before.content), ...content] };
    else merged.push(step);
  }
  return merged;
}

/** A call with only partial input events is completed before its step or result. */
function* withWholeCalls(parts: readonly Fields[]): Generator<Fields> {
  const open = new Map<unknown, { toolName: unknown; text: string }>();
  for (const part of parts) {
    const { type, toolCallId } = part;
    if (type === 'tool-input-start') open.set(toolCallId, { toolName: part.toolName, text: '' });
    else if (type === 'tool-input-delta') {
      const call = open.get(toolCallId);
      if (call !== undefined && typeof part.inputTextDelta === 'string')
        call.text += part.inputTextDelta;
    } else if (
      type === 'tool-input-available' ||
      type === 'tool-call' ||
      type === 'tool-input-error'
    )
      open.delete(toolCallId);
    else if (
      type === 'finish-step' ||
      type === 'finish' ||
      (typeof type === 'string' && type.startsWith('tool-output'))
    ) {
      yield* wholeCalls(open);
      open.clear();
    }
    yield part;
  }
  yield* wholeCalls(open);
}

const wholeCalls = (open: ReadonlyMap<unknown, { toolName: unknown; text: string }>): Fields[] =>
  [...open].map(([toolCallId, { toolName, text }]) => ({
    type: 'tool-call',
    toolCallId,
    toolName,
    input: parseJson(text) ?? text,
  }));
