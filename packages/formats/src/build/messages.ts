import type { Message, Part } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { contentOf, failureFlag, outcomeOf, UNNAMED } from './blocks.ts';
import type { Call, Turn } from './draft.ts';
import { langchainMessage } from './langchain.ts';
import {
  argumentsOf,
  fields,
  label,
  objects,
  parseJson,
  pick,
  text,
  time,
  unpacked,
} from './values.ts';

const ROLES: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  agent: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** The canonical role. Undefined for an unknown word. */
export const roleOf = (value: unknown): Message['role'] | undefined =>
  typeof value === 'string' && Object.hasOwn(ROLES, value.toLowerCase())
    ? ROLES[value.toLowerCase()]
    : undefined;

/** Messages of any provider, in order. Tool results inside a message become separate turns. */
export function turnsOf(value: unknown): Turn[] {
  if (typeof value === 'string') return value === '' ? [] : [userText(value)];
  let list: readonly unknown[] = [];
  if (Array.isArray(value)) list = value;
  else if (isFields(value)) list = [value];
  return list.flatMap((item) => {
    if (typeof item === 'string') return [userText(item)];
    if (isFields(item)) return messageTurns(item);
    return [];
  });
}

const userText = (said: string): Turn => ({
  role: 'user',
  parts: [{ type: 'text', text: text(said) ?? '' }],
});

/** A plain text message. */
export const turnOfText = (role: Message['role'], said: string): Turn => ({
  role,
  parts: said === '' ? [] : [{ type: 'text', text: said }],
});

/** The turns of one message: itself and its results. */
export function messageTurns(given: Fields): Turn[] {
  const message = langchainMessage(given) ?? given;
  const named = roleOf(message.role) ?? 'user';
  const written = named === 'assistant' || named === 'tool' ? writtenCalls(message.content) : [];
  // Koog gives a call in the history the role of its result.
  if (written.length > 0)
    return messageTurns({ ...message, role: 'assistant', content: null, tool_calls: written });
  const blocks = named === 'assistant' ? writtenBlocks(message.content) : undefined;
  if (blocks !== undefined) return messageTurns({ ...message, content: blocks });
  const role = named;
  const { parts, calls, results } = contentOf(pick(message, 'parts', 'content', 'text'));
  // Some writers list a call both in the content and next to it. Two in one list are two calls,
  // whatever their ids.
  const inContent = [...calls];
  for (const call of objects(unpacked(message.tool_calls))) addCall(call, calls, inContent);
  const called = unpacked(message.function_call);
  if (isFields(called)) addCall(called, calls, inContent);
  if (calls.length === 0) addRawCalls(fields(message.additional_kwargs), calls);
  if (typeof message.refusal === 'string' && message.refusal !== '')
    parts.push(said(message.refusal));
  if (typeof message.reasoning_content === 'string' && message.reasoning_content !== '')
    parts.unshift({ type: 'reasoning', text: text(message.reasoning_content) ?? '' });
  const about = {
    name: label(message.name),
    at: time(pick(message, 'timestamp', 'created_at', 'createdAt')),
  };
  if (role === 'tool')
    return results.length > 0
      ? results.map((turn) => ({ ...turn, name: turn.name ?? about.name, at: turn.at ?? about.at }))
      : [toolTurn(message, about)];
  const own: Turn = { role, parts, ...about, calls: calls.length !== 0 ? calls : undefined };
  const isEmpty = parts.length === 0 && calls.length === 0 && role !== 'assistant';
  return isEmpty ? results : [...results, own];
}

const said = (refusal: string): Part => ({ type: 'text', text: text(refusal) ?? '' });

/**
 * A call in a list next to the content: `{id, function: {name, arguments}}`, `{id, name, args}` and
 * similar forms.
 */
function addCall(call: Fields, into: Call[], known: readonly Call[]): void {
  let inner: Readonly<Record<string, unknown>>;
  if (isFields(call.function)) inner = call.function;
  else if (isFields(call.custom)) inner = call.custom;
  else inner = call;
  const name =
    label(pick(inner, 'name', 'toolName', 'tool_name', 'function_name') ?? call.function) ??
    UNNAMED;
  const id = label(pick(call, 'id', 'tool_call_id', 'toolCallId', 'call_id'));
  if (
    id !== undefined &&
    known.some((one) => one.id === id && (one.name === name || name === UNNAMED))
  )
    return;
  into.push({
    name,
    ...argumentsOf(pick(inner, 'arguments', 'args', 'input', 'parameters')),
    id,
  });
}

/** The provider's raw calls, which LangChain keeps next to its own form, or alone. */
function addRawCalls({ tool_calls, function_call }: Fields, into: Call[]): void {
  for (const call of objects(tool_calls)) addCall(call, into, []);
  if (isFields(function_call)) addCall(function_call, into, []);
}

/** Calls that a writer put into the content, also as JSON: a list of `{id, type, function: {name, arguments}}`. */
function writtenCalls(content: unknown): readonly Fields[] {
  const isJson = typeof content === 'string' && /^\s*\[\s*\{/.test(content);
  const list = isJson ? parseJson(content) : content;
  const isCall = (item: Fields): boolean =>
    isFields(item.function) &&
    typeof item.function.name === 'string' &&
    'arguments' in item.function;
  const calls = objects(list);
  return Array.isArray(list) &&
    list.length > 0 &&
    calls.length === list.length &&
    calls.every(isCall)
    ? calls
    : [];
}

/** Content blocks serialized as JSON, if they contain calls. Any other list is text. */
function writtenBlocks(content: unknown): readonly unknown[] | undefined {
  if (Array.isArray(content)) {
    const read = content.map(
      (block) => (typeof block === 'string' ? writtenBlocks(block) : undefined) ?? [block],
    );
    return read.some((blocks, i) => blocks[0] !== content[i]) ? read.flat() : undefined;
  }
  if (typeof content !== 'string' || !/^\s*(?:\[\s*)?\{/.test(content)) return undefined;
  const value = parseJson(content);
  const list = Array.isArray(value) ? value : [value];
  return list.every(isFields) && contentOf(list).calls.length > 0 ? list : undefined;
}

function toolTurn(message: Fields, about: Partial<Turn>): Turn {
  const { value, parts, failed } = outcomeOf(message.content ?? message.output ?? message.result);
  const isError = failed ?? failureFlag(message);
  let status: 'error' | 'ok' | undefined;
  if (isError === undefined) status = undefined;
  else if (isError) status = 'error';
  else status = 'ok';
  return {
    role: 'tool',
    parts,
    ...about,
    result: value,
    callId: label(pick(message, 'tool_call_id', 'toolCallId', 'call_id', 'callId', 'tool_use_id')),
    status,
    error:
      isError === true
        ? { message: typeof value === 'string' ? value : JSON.stringify(value ?? '') }
        : undefined,
  };
}

/** Tools offered to a model, in the shapes of OpenAI, Anthropic and Gemini. */
export function toolDefs(
  value: unknown,
): { name: string; description?: string; schema?: unknown }[] {
  return objects(value).flatMap((tool) => {
    const declared = objects(pick(tool, 'functionDeclarations', 'function_declarations'));
    if (declared.length > 0) return toolDefs(declared);
    let inner: Readonly<Record<string, unknown>>;
    if (isFields(tool.function)) inner = tool.function;
    else if (isFields(tool.toolSpec)) inner = tool.toolSpec;
    else inner = tool;
    const name = label(inner.name);
    if (name === undefined) return [];
    const schema = pick(inner, 'parameters', 'input_schema', 'inputSchema', 'schema');
    return [
      {
        name,
        description: text(inner.description),
        schema: fields(schema).json ?? schema,
      },
    ];
  });
}
