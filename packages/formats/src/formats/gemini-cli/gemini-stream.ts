import { hasValues } from '@agentci/lib/data';
import { type Fields, isFields } from '@agentci/trace';
import { UNNAMED } from '../../build/blocks.ts';
import { Dialogue, extend, type OpenReply } from '../../build/dialogue.ts';
import type { Draft, GapNote, Turn } from '../../build/draft.ts';
import { endOf } from '../../build/draft.ts';
import { turnOfText } from '../../build/messages.ts';
import { timeSpan } from '../../build/time-span.ts';
import { amount, argumentsOf, fields, label, resultOf, text, time } from '../../build/values.ts';

/** An event of `gemini --output-format stream-json`. */
export function isStreamEvent(value: unknown): boolean {
  if (!isFields(value) || typeof value.timestamp !== 'string') return false;
  switch (value.type) {
    case 'init':
      return typeof value.session_id === 'string' && 'model' in value;
    case 'message':
      return (
        (value.role === 'user' || value.role === 'assistant') && typeof value.content === 'string'
      );
    case 'tool_use':
      return typeof value.tool_id === 'string' && 'parameters' in value;
    case 'tool_result':
      return typeof value.tool_id === 'string' && typeof value.status === 'string';
    case 'error':
      return typeof value.severity === 'string';
    case 'result':
      return typeof value.status === 'string' && !('session_id' in value);
    default:
      return false;
  }
}

/** The boundaries of model calls are missing, so replies are partial. */
export function streamDraft(events: readonly Fields[], format: string): Draft {
  const dialogue = new Dialogue();
  let open: OpenReply | undefined;
  const model = label(events.find(({ type }) => type === 'init')?.model);
  const reply = (): OpenReply => (open ??= dialogue.reply(turnOfText('assistant', ''), { model }));
  for (const event of events) {
    if (event.type === 'message' && event.role === 'user') {
      open = undefined;
      dialogue.hear(turnOfText('user', text(event.content) ?? ''));
    } else if (event.type === 'message') say(reply(), text(event.content) ?? '');
    else if (event.type === 'tool_use') {
      const name = label(event.tool_name) ?? UNNAMED;
      const call = {
        name,
        ...argumentsOf(event.parameters),
        id: label(event.tool_id),
      };
      extend(reply(), { parts: [], calls: [call] });
    } else if (event.type === 'tool_result') {
      open = undefined;
      dialogue.hear(resultTurn(event));
    }
  }
  const end = events.findLast(({ type }) => type === 'result');
  const stats = fields(end?.stats);
  const usage = {
    input: amount(stats.input_tokens),
    output: amount(stats.output_tokens),
    cacheRead: amount(stats.cached),
    total: amount(stats.total_tokens),
  };
  const failure = end?.status === 'error' ? fields(end.error) : undefined;
  const gaps: GapNote[] = end === undefined ? [{ gap: 'cutOff', detail: 'no result event' }] : [];
  return {
    source: { format, dialects: ['stream-json'] },
    steps: dialogue.steps,
    turns: dialogue.turns,
    records: {
      toolCalls: 'full',
      toolArgs: 'full',
      toolResults: 'full',
      toolErrors: 'full',
      prompts: 'full',
    },
    gaps,
    counts: { toolCalls: amount(stats.tool_calls) },
    reported: {
      usage: hasValues(usage) ? usage : undefined,
      durationMs: amount(stats.duration_ms),
    },
    ...timeSpan(events.map(({ timestamp }) => time(timestamp))),
    id: label(events.find(({ type }) => type === 'init')?.session_id),
    ...endOf(
      failure && { message: label(failure.message), type: label(failure.type) },
      end === undefined,
    ),
  };
}

/** Pieces of a reply are one text, split anywhere. */
function say(reply: OpenReply, said: string): void {
  const last = reply.output.parts.at(-1);
  const before = last?.type === 'text' ? last.text : '';
  const rest = last?.type === 'text' ? reply.output.parts.slice(0, -1) : reply.output.parts;
  reply.output.parts = [...rest, { type: 'text', text: before + said }];
}

function resultTurn(event: Fields): Turn {
  const isError = event.status === 'error';
  const { message, type } = fields(event.error);
  return {
    role: 'tool',
    parts: [],
    status: isError ? 'error' : 'ok',
    callId: label(event.tool_id),
    result: resultOf(event.output),
    error: isError
      ? { message: label(message) ?? label(event.output), type: label(type) }
      : undefined,
  };
}
