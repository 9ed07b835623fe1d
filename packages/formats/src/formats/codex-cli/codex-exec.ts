import { hasValues } from '@agentci/lib/data';
import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { mayBeCall, outcomeOf, UNNAMED } from '../../build/blocks.ts';
import { Dialogue, extend, type OpenReply } from '../../build/dialogue.ts';
import type { Call, Draft, DraftTool, GapNote } from '../../build/draft.ts';
import { endOf } from '../../build/draft.ts';
import { turnOfText } from '../../build/messages.ts';
import { sumUsage } from '../../build/usage.ts';
import { amount, argumentsOf, fields, label, objects, pick, text } from '../../build/values.ts';

export const isExecEvent = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === 'string' &&
  (/^(?:thread\.started|turn\.(?:started|completed|failed))$/.test(value.type) ||
    (/^item\.(?:started|updated|completed)$/.test(value.type) && isFields(value.item)) ||
    (value.type === 'error' && typeof value.message === 'string'));

/**
 * A run of `codex exec --json`. Its items are messages and executed calls. The boundaries of model
 * calls are missing, so replies are partial. The prompt is not recorded.
 */
export function execDraft(events: readonly Fields[], format: string): Draft {
  const dialogue = new Dialogue();
  let open: OpenReply | undefined;
  const reply = (): OpenReply => (open ??= dialogue.reply(turnOfText('assistant', '')));
  for (const item of lastStates(events)) {
    const said = text(item.text) ?? '';
    if (item.type === 'agent_message') open = dialogue.reply(turnOfText('assistant', said));
    else if (item.type === 'reasoning')
      extend(reply(), { parts: said === '' ? [] : [{ type: 'reasoning', text: said }] });
    else if (item.type === 'todo_list')
      dialogue.add({ kind: 'event', name: 'todo_list', data: item.items ?? null });
    else if (item.type === 'error')
      dialogue.add({ kind: 'event', name: 'error', data: { message: label(item.message) ?? '' } });
    else {
      const tool = toolOf(item);
      if (tool === undefined) continue;
      // The previous reply requested it; a run that ends with a call has no answer.
      const call: Call = {
        name: tool.name,
        id: tool.callId,
        args: tool.args,
        server: tool.server,
      };
      extend(reply(), { parts: [], calls: [call] });
      dialogue.add(tool);
    }
  }
  const usages = events
    .filter(({ type }) => type === 'turn.completed')
    .map(({ usage }) => usageOf(usage));
  const usage = sumUsage(usages);
  const failure = events.findLast(({ type }) => type === 'turn.failed' || type === 'error');
  const isFailed =
    failure !== undefined && events.lastIndexOf(failure) >= events.findLastIndex(isTurnEnd);
  const isOpen = events.findLastIndex(isOfTurn) > events.findLastIndex(isTurnEnd);
  const id = label(events.find(({ type }) => type === 'thread.started')?.thread_id);
  return {
    source: { format, dialects: ['exec'] },
    steps: dialogue.steps,
    records: { toolCalls: 'full', toolArgs: 'full', toolResults: 'full', toolErrors: 'full' },
    gaps: missingItems(events),
    id,
    reported: usage === undefined ? undefined : { usage },
    ...endOf(isFailed ? { message: messageOf(failure) } : undefined, isOpen),
  };
}

const isTurnEnd = ({ type }: Fields): boolean =>
  type === 'turn.completed' || type === 'turn.failed';
const isOfTurn = ({ type, item }: Fields): boolean => type === 'turn.started' || isFields(item);
const messageOf = (event: Fields): string | undefined =>
  label(fields(event.error).message) ?? label(event.message);

/** Each item once, in the order they began, as its last event shows it. */
function lastStates(events: readonly Fields[]): Iterable<Fields> {
  const items = new Map<string, Fields>();
  for (const { item } of events) {
    if (!isFields(item)) continue;
    const id = label(item.id) ?? `item ${items.size}`;
    const known = items.get(id);
    // If two events of an item disagree on its kind, the known kind wins.
    const isKnown = KINDS.has(String(known?.type)) || !KINDS.has(String(item.type));
    items.set(id, { ...known, ...item, type: isKnown ? (known?.type ?? item.type) : item.type });
  }
  return items.values();
}

const KINDS = new Set([
  'command_execution',
  'file_change',
  'web_search',
  'mcp_tool_call',
  'collab_tool_call',
]);

/** Items are numbered `item_N` from 0, so a missing number is a gap. */
function missingItems(events: readonly Fields[]): GapNote[] {
  const numbers = events
    .flatMap(({ item }) => /(\d{1,9})$/.exec(label(fields(item).id) ?? '')?.[1] ?? [])
    .map(Number);
  const known = new Set(numbers);
  const isFromZero =
    events.some(({ type }) => type === 'thread.started') && events.some(isNumberedItem);
  const missing = Math.max(-1, ...known) - (isFromZero ? 0 : Math.min(...known)) + 1 - known.size;
  return missing > 0 && known.size > 0
    ? [{ gap: 'absentChildren', detail: `${missing} numbered items` }]
    : [];
}
const isNumberedItem = ({ item }: Fields): boolean =>
  /^item_\d{1,9}$/.test(label(fields(item).id) ?? '');

const STATUS: Readonly<Record<string, DraftTool['status']>> = {
  completed: 'ok',
  failed: 'error',
  declined: 'denied',
  in_progress: 'pending',
};

function toolOf(item: Fields): DraftTool | undefined {
  const status =
    typeof item.status === 'string' && Object.hasOwn(STATUS, item.status)
      ? STATUS[item.status]
      : undefined;
  const callId = label(item.id);
  const base = { kind: 'tool' as const, callId, status };
  switch (item.type) {
    case 'command_execution': {
      const exit = typeof item.exit_code === 'number' ? item.exit_code : undefined;
      const failed = exit !== undefined && exit !== 0;
      const output = text(item.aggregated_output);
      return {
        ...base,
        name: 'command_execution',
        args: { command: item.command ?? null },
        result: status === 'pending' ? undefined : output,
        status: failed ? 'error' : base.status,
        error: failed ? { message: output ?? '', code: exit } : undefined,
      };
    }
    case 'file_change':
      return { ...base, name: 'file_change', args: { changes: objects(item.changes) } };
    case 'web_search':
      return { ...base, name: 'web_search', by: 'provider', args: { query: item.query ?? null } };
    case 'mcp_tool_call':
      return mcpCall(item, base);
    case 'collab_tool_call':
      return {
        ...base,
        name: label(item.tool) ?? 'collab',
        by: 'subagent',
        args: { prompt: item.prompt ?? null },
      };
    default:
      // An unknown or missing kind is a call if it looks like one or has an execution state.
      return typeof item.type !== 'string' ||
        item.type === '' ||
        mayBeCall(item) ||
        status !== undefined
        ? { ...base, name: label(item.tool) ?? label(item.name) ?? label(item.type) ?? UNNAMED }
        : undefined;
  }
}

function mcpCall(item: Fields, base: Pick<DraftTool, 'kind' | 'callId' | 'status'>): DraftTool {
  const result = fields(item.result);
  const error = isFields(item.error) ? label(item.error.message) : label(item.error);
  const value =
    pick(result, 'structured_content', 'structuredContent') ?? outcomeOf(result.content).value;
  return {
    ...base,
    name: label(item.tool) ?? 'unknown',
    by: 'mcp',
    ...argumentsOf(item.arguments),
    server: label(item.server),
    result: value,
    status: error === undefined ? base.status : 'error',
    error: error === undefined ? undefined : { message: error },
  };
}

/** Codex includes cached tokens in the input. */
export function usageOf(value: unknown): Usage | undefined {
  const counted = fields(value);
  const usage: Usage = {
    input: amount(counted.input_tokens),
    output: amount(counted.output_tokens),
    cacheRead: amount(counted.cached_input_tokens),
    reasoning: amount(counted.reasoning_output_tokens),
    total: amount(counted.total_tokens),
  };
  return hasValues(usage) ? usage : undefined;
}
