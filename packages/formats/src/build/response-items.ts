import { type Fields, isFields } from '@agentci/trace';
import { contentOf, mayBeCall } from './blocks.ts';
import type { Call, DraftRetrieval, Turn } from './draft.ts';
import { messageTurns } from './messages.ts';
import { argumentsOf, label, number, objects, pick, resultOf, text } from './values.ts';

/** Calls the program answers, by the name of the item: which of its fields hold name and arguments. */
const CALLS: Readonly<Record<string, { name?: string; args: readonly string[] }>> = {
  function_call: { args: ['arguments'] },
  custom_tool_call: { args: ['input'] },
  computer_call: { name: 'computer', args: ['action'] },
  local_shell_call: { name: 'local_shell', args: ['action'] },
  shell_call: { name: 'shell', args: ['action'] },
  apply_patch_call: { name: 'apply_patch', args: ['operation'] },
  hosted_tool_call: { args: ['arguments'] },
  program: { name: 'program', args: ['code'] },
};

/** Calls the provider answers itself: the result is in the same item. */
const PROVIDER_CALLS: Readonly<
  Record<string, { name: string; args: readonly string[]; result: readonly string[] }>
> = {
  web_search_call: { name: 'web_search', args: ['action'], result: ['results'] },
  file_search_call: { name: 'file_search', args: ['queries'], result: ['results'] },
  code_interpreter_call: { name: 'code_interpreter', args: ['code'], result: ['outputs'] },
  image_generation_call: { name: 'image_generation', args: ['revised_prompt'], result: [] },
  tool_search_call: { name: 'tool_search', args: ['arguments', 'query'], result: ['results'] },
};

/** Items that are about tools and call none. */
const KNOWN = new Set(['mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response']);
const UNKNOWN_ARGS = ['arguments', 'input', 'action', 'operation'];

/** Whether a value is an item other than a plain message. */
export const isResponseItem = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === 'string' &&
  (Object.hasOwn(CALLS, value.type) ||
    Object.hasOwn(PROVIDER_CALLS, value.type) ||
    isOutput(value.type) ||
    value.type === 'mcp_call' ||
    value.type === 'mcp_list_tools' ||
    (value.type === 'reasoning' && 'summary' in value));

const isOutput = (type: string): boolean =>
  /_call_(?:output|result)$/.test(type) || type === 'program_output';

/** Items as messages: neighbors of one reply become one turn, and results separate turns. */
export function itemTurns(items: readonly unknown[]): Turn[] {
  const turns: Turn[] = [];
  let open: { parts: Turn['parts']; calls: Call[] } | undefined;
  const close = (): void => {
    if (open !== undefined)
      turns.push({
        role: 'assistant',
        parts: open.parts,
        calls: open.calls.length !== 0 ? open.calls : undefined,
      });
    open = undefined;
  };
  for (const item of items) {
    if (!isFields(item)) continue;
    const own = replyPart(item);
    if (own === undefined) {
      close();
      turns.push(...otherTurns(item));
      continue;
    }
    open ??= { parts: [], calls: [] };
    open.parts.push(...own.parts);
    open.calls.push(...own.calls);
    if (own.results.length > 0) {
      close();
      turns.push(...own.results);
    }
  }
  close();
  return turns;
}

/** The item's part of a model reply. Undefined if it is not the model's. */
function replyPart(
  item: Fields,
): { parts: Turn['parts']; calls: Call[]; results: Turn[] } | undefined {
  const type = typeof item.type === 'string' ? item.type : 'message';
  if (type === 'message' || 'role' in item) {
    if (item.role !== 'assistant') return undefined;
    return { ...contentOf(item.content), results: [] };
  }
  if (type === 'reasoning')
    return {
      parts: contentOf(pick(item, 'summary', 'content')).parts.map(asThought),
      calls: [],
      results: [],
    };
  if (Object.hasOwn(CALLS, type)) {
    const { name, args } = CALLS[type]!;
    const called = label(item.name) ?? name;
    if (called === undefined) return { parts: [], calls: [], results: [] };
    const given = pick(item, ...args);
    // A known item name means that its single text is unnamed.
    const isText = name !== undefined && typeof given === 'string';
    return {
      parts: [],
      calls: [callOf(item, called, isText ? { [args[0]!]: given } : given)],
      results: [],
    };
  }
  if (type === 'mcp_call') return mcpCall(item);
  if (!Object.hasOwn(PROVIDER_CALLS, type)) {
    if (isOutput(type)) return undefined;
    // An unknown kind of call is still a call, named by its kind like the known ones.
    const kind = /^(.+)_call$/.exec(type)?.[1];
    const calls =
      kind === undefined
        ? []
        : [callOf(item, label(item.name) ?? kind, pick(item, ...UNKNOWN_ARGS))];
    // A possible call is kept, so that it is reported.
    const isOpen = kind === undefined && mayBeCall(item) && !KNOWN.has(type);
    return { parts: isOpen ? [{ type: 'json', data: item }] : [], calls, results: [] };
  }
  const { name, args, result } = PROVIDER_CALLS[type]!;
  const id = label(pick(item, 'id', 'call_id'));
  const given = pick(item, ...args);
  const call: Call = {
    name,
    by: 'provider',
    id,
    args: typeof given === 'string' ? { [args[0]!]: given } : given,
  };
  return {
    parts: [],
    calls: [call],
    results: [resultTurn({ name, id, value: pick(item, ...result), status: statusOf(item) })],
  };
}

const asThought = (part: Turn['parts'][number]): Turn['parts'][number] =>
  part.type === 'text' ? { type: 'reasoning', text: part.text } : part;

const callOf = (item: Fields, name: string, given: unknown): Call => ({
  name,
  ...argumentsOf(given),
  id: label(pick(item, 'call_id', 'callId', 'id')),
  by: item.type === 'hosted_tool_call' ? ('provider' as const) : undefined,
  actor: isFields(item.caller) && item.caller.type === 'program' ? ('program' as const) : undefined,
});

function mcpCall(item: Fields): { parts: Turn['parts']; calls: Call[]; results: Turn[] } {
  const name = label(item.name) ?? 'unknown';
  const id = label(item.id);
  const failed = item.error !== undefined && item.error !== null;
  const call: Call = {
    name,
    by: 'mcp',
    ...argumentsOf(item.arguments),
    id,
    server: label(item.server_label),
  };
  const value = failed ? item.error : item.output;
  return {
    parts: [],
    calls: [call],
    results: [resultTurn({ name, id, value, status: failed ? 'error' : 'ok' })],
  };
}

function otherTurns(item: Fields): Turn[] {
  const type = typeof item.type === 'string' ? item.type : 'message';
  if (type === 'message' || 'role' in item) return messageTurns(item);
  if (!isOutput(type)) return [];
  const name = label(item.name);
  return [
    resultTurn({
      name,
      id: label(pick(item, 'call_id', 'callId')),
      value: pick(item, 'output', 'result'),
      status: statusOf(item),
    }),
  ];
}

/** `completed` means that the call ended. A failure is explicit. */
const statusOf = (item: Fields): 'error' | undefined =>
  item.status === 'failed' || item.status === 'error' ? 'error' : undefined;

function resultTurn(result: {
  name: string | undefined;
  id: string | undefined;
  value: unknown;
  status: 'ok' | 'error' | undefined;
}): Turn {
  const { value, status } = result;
  const { parts } = Array.isArray(value) ? contentOf(value) : { parts: [] };
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const isText = words.length > 0 && words.length === parts.length;
  const said = isFields(value) && typeof value.text === 'string' ? value.text : value;
  return {
    role: 'tool',
    parts: isText ? [] : parts.filter(({ type }) => type === 'media'),
    name: result.name,
    callId: result.id,
    result: isText ? resultOf(words.join('\n')) : resultOf(said),
    status,
    error:
      status === 'error'
        ? { message: typeof said === 'string' ? said : JSON.stringify(said ?? '') }
        : undefined,
  };
}

/** File search results are context for the answer. */
export function retrievalsIn(items: readonly unknown[]): DraftRetrieval[] {
  return objects(items).flatMap((item): DraftRetrieval[] => {
    if (item.type !== 'file_search_call' || !Array.isArray(item.results)) return [];
    const documents = objects(item.results).map((found) => ({
      id: label(found.file_id),
      uri: label(found.filename),
      score: number(found.score),
      text: text(found.text),
    }));
    const query = Array.isArray(item.queries)
      ? item.queries.filter((query) => typeof query === 'string').join('; ')
      : undefined;
    return [{ kind: 'retrieval', documents, query }];
  });
}
