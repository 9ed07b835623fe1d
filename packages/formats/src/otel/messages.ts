import { type Fields, isFields } from '@agentci/trace';
import type { Turn } from '../build/draft.ts';
import { messageTurns, turnOfText, turnsOf } from '../build/messages.ts';
import { isResponseItem, itemTurns } from '../build/response-items.ts';
import { fields, objects, parseJson, text, unpacked } from '../build/values.ts';
import type { Span, SpanEvent } from './span.ts';

/** Input and output messages of a model call. */
export interface Exchange {
  readonly input?: readonly Turn[];
  readonly output?: Turn;
}

/** The messages of a GenAI span, wherever its version of the conventions keeps them: attributes, or events. */
export function exchangeOf(span: Span): Exchange {
  const details = span.events.find(
    ({ name }) => name === 'gen_ai.client.inference.operation.details',
  );
  for (const source of [span.attributes, details?.attributes ?? {}, fields(details?.body)]) {
    const found = fromAttributes(source);
    if (found !== undefined) return found;
  }
  return fromEvents(span.events);
}

function fromAttributes(attributes: Fields): Exchange | undefined {
  const input = whole(unpacked(attributes['gen_ai.input.messages'] ?? attributes['gen_ai.prompt']));
  const output = whole(
    unpacked(attributes['gen_ai.output.messages'] ?? attributes['gen_ai.completion']),
  );
  if (input === undefined && output === undefined) return undefined;
  const system = turnsOf(unpacked(attributes['gen_ai.system_instructions'])).flatMap(
    ({ parts }) => parts,
  );
  const turns = turnsOf(input);
  if (system.length > 0) turns.unshift({ role: 'system', parts: system });
  return exchange(
    turns,
    typeof output === 'string' ? [turnOfText('assistant', output)] : turnsOf(output),
  );
}

/** Messages that an SDK truncated are no longer JSON, so their content was not recorded. */
const whole = (messages: unknown): unknown =>
  typeof messages === 'string' && /^\s*(?:\[\s*)?\{\s*"/.test(messages) ? undefined : messages;

const ROLE_EVENTS: Readonly<Record<string, string>> = {
  'gen_ai.system.message': 'system',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.tool.message': 'tool',
};

/**
 * Conventions 1.28 to 1.36 write one event per message, with the content in a log body or in
 * attributes.
 */
function fromEvents(events: readonly SpanEvent[]): Exchange {
  const input: Turn[] = [];
  const output: Turn[] = [];
  for (const event of events) {
    const content = contentOf(event);
    if (Object.hasOwn(ROLE_EVENTS, event.name)) {
      const role = ROLE_EVENTS[event.name];
      input.push(
        ...messageTurns({ role, ...content, tool_call_id: content.id ?? content.tool_call_id }),
      );
    } else if (event.name === 'gen_ai.choice') {
      const message = unpacked(content.message);
      const said = isFields(message)
        ? message
        : { content: message ?? content.content, tool_calls: content.tool_calls };
      output.push(...messageTurns({ ...said, role: 'assistant' }));
    } else if (event.name === 'gen_ai.content.prompt')
      input.push(...turnsOf(unpacked(event.attributes['gen_ai.prompt'])));
    else if (event.name === 'gen_ai.content.completion')
      output.push(
        ...turnsOf(unpacked(event.attributes['gen_ai.completion'])).map((turn) => ({
          ...turn,
          role: 'assistant' as const,
        })),
      );
  }
  return exchange(input, output);
}

function contentOf({ body, attributes }: SpanEvent): Fields {
  const inner = unpacked(body);
  if (isFields(inner)) return inner;
  const said: Record<string, unknown> = typeof inner === 'string' ? { content: inner } : {};
  for (const key of ['content', 'role', 'id', 'message', 'name', 'tool_calls', 'finish_reason'])
    if (attributes[key] !== undefined) said[key] = unpacked(attributes[key]);
  return said;
}

export function exchange(input: readonly Turn[], output: readonly Turn[]): Exchange {
  const said = firstOf(output);
  return {
    input: input.length !== 0 ? input : undefined,
    output: said,
  };
}

/**
 * Several messages of one reply are choices, and the first one with text is the answer. It is
 * unknown which one's calls were made, and some writers use one message per call, so all of them
 * count.
 */
function firstOf(output: readonly Turn[]): Turn | undefined {
  const all = merged(output);
  const choices = output.filter(({ role }) => role !== 'tool');
  if (all === undefined || choices.length < 2) return all;
  const first = choices.find(({ parts }) => parts.some(({ type }) => type === 'text'));
  return first === undefined ? all : { ...all, parts: first.parts };
}

/** Messages of any provider, or the items of a response. */
export function anyTurns(value: unknown): Turn[] {
  const items = isFields(value) && value.object === 'response' ? value.output : value;
  return Array.isArray(items) && items.some(isResponseItem) ? itemTurns(items) : turnsOf(items);
}

/** Joins the messages of one reply into one, without tool results. */
export function merged(turns: readonly Turn[]): Turn | undefined {
  const own = turns.filter(({ role }) => role !== 'tool');
  if (own.length <= 1) return own[0] === undefined ? undefined : { ...own[0], role: 'assistant' };
  const calls = own.flatMap((turn) => turn.calls ?? []);
  return {
    role: 'assistant',
    parts: own.flatMap(({ parts }) => parts),
    calls: calls.length !== 0 ? calls : undefined,
  };
}

/** An agent's output: the text of its last message that has any, and every call. */
export function agentOutput(turns: readonly Turn[]): Turn | undefined {
  const all = merged(turns);
  const last = turns.findLast(
    ({ role, parts }) => role === 'assistant' && parts.some(({ type }) => type === 'text'),
  );
  return all === undefined
    ? undefined
    : { ...all, parts: (last ?? all).parts.filter(({ type }) => type === 'text') };
}

/** A value that frameworks keep as text, as JSON or as a message: its words. */
export function wordsOf(value: unknown): string | undefined {
  const inner = unpacked(value);
  if (typeof inner === 'string') return text(unquoted(inner));
  if (Array.isArray(inner)) {
    const words = turnsOf(inner).findLast(({ role }) => role !== 'tool');
    return words === undefined ? undefined : partsText(words);
  }
  if (!isFields(inner))
    return inner === undefined || inner === null ? undefined : String(inner as number | boolean);
  if (Array.isArray(inner.messages)) return wordsOf(inner.messages);
  if ('role' in inner || 'content' in inner || 'parts' in inner)
    return partsText(messageTurns(inner).at(-1));
  const [reply] = [
    ...objects(inner.candidates).map(({ content }) => content),
    ...objects(inner.choices).map(({ message }) => message),
  ];
  if (isFields(reply)) return partsText(messageTurns({ ...reply, role: 'assistant' }).at(-1));
  for (const key of [
    'output',
    'text',
    'answer',
    'result',
    'response',
    'input',
    'query',
    'prompt',
    'question',
    'task',
    'contents',
  ])
    if (typeof inner[key] === 'string') return text(inner[key]);
  return JSON.stringify(inner);
}

/** A text that was written as JSON: `"Hello"`. */
function unquoted(value: string): string {
  const inner = /^"[\s\S]*"$/.test(value) ? parseJson(value) : undefined;
  return typeof inner === 'string' ? inner : value;
}

const partsText = (turn: Turn | undefined): string | undefined => {
  const texts = (turn?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
};
