import { type Fields, isFields } from '@agentci/trace';
import { conversation } from '../../build/conversation.ts';
import type { Draft, DraftTool, Turn } from '../../build/draft.ts';
import { endOf } from '../../build/draft.ts';
import { turnOfText } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { itemTurns } from '../../build/response-items.ts';
import { timeSpan } from '../../build/time-span.ts';
import { fields, label, text, time } from '../../build/values.ts';
import { usageOf } from './codex-exec.ts';

const TYPES = new Set([
  'session_meta',
  'turn_context',
  'response_item',
  'event_msg',
  'compacted',
  'world_state',
  'inter_agent_communication',
]);

export const isRolloutLine = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === 'string' &&
  TYPES.has(value.type) &&
  isFields(value.payload);

/**
 * A Codex session file. Its items use the Responses API, which lacks failure flags; the events next
 * to them have those. Totals count the whole session.
 */
export function rolloutDraft(lines: readonly Fields[], format: string): Draft {
  const payloads = (type: string): Fields[] =>
    lines.filter((line) => line.type === type).map(({ payload }) => fields(payload));
  const events = payloads('event_msg');
  const last = (type: string): Fields | undefined =>
    events.findLast((event) => event.type === type);
  const [meta = {}] = payloads('session_meta');
  const model = label(payloads('turn_context').at(-1)?.model);
  const outcomes = outcomesOf(events);
  const turns = itemTurns(payloads('response_item')).map((turn) => withOutcome(turn, outcomes));
  const usage = usageOf(fields(last('token_count')?.info).total_token_usage);
  const asked = events
    .filter(({ type }) => type === 'user_message')
    .flatMap(({ message }) => text(message) ?? []);
  const answer = text(last('task_complete')?.last_agent_message);
  const failure = last('error');
  return {
    source: { format, dialects: ['rollout'], version: label(meta.cli_version) },
    ...conversation(turns, () => ({ model })),
    records: MESSAGES_RECORD,
    ...timeSpan(lines.map(({ timestamp }) => time(timestamp))),
    id: label(meta.id),
    reported: usage === undefined ? undefined : { usage },
    // Items before the user's message are instructions and machine state.
    task:
      asked.length !== 0
        ? { input: asked.slice(0, 1).map((said) => turnOfText('user', said) as never) }
        : undefined,
    final: answer === undefined ? undefined : { text: answer },
    ...endOf(
      failure !== undefined && answer === undefined
        ? { message: label(failure.message) }
        : undefined,
      events.at(-1)?.type === 'turn_aborted',
    ),
  };
}

type Outcome = Pick<DraftTool, 'status' | 'error'>;

/** How calls ended, by call id, from the events Codex writes when they do. */
function outcomesOf(events: readonly Fields[]): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const event of events) {
    const id = label(event.call_id);
    if (id === undefined) continue;
    const outcome = outcomeOf(event);
    if (outcome !== undefined) outcomes.set(id, outcome);
  }
  return outcomes;
}

function outcomeOf(event: Fields): Outcome | undefined {
  if (event.type === 'exec_command_end' && typeof event.exit_code === 'number') {
    if (event.exit_code === 0) return { status: 'ok' };
    const message = label(event.stderr) ?? label(event.aggregated_output) ?? '';
    return { status: 'error', error: { message, code: event.exit_code } };
  }
  if (event.type === 'patch_apply_end' && typeof event.success === 'boolean')
    return event.success
      ? { status: 'ok' }
      : { status: 'error', error: { message: label(event.stderr) ?? '' } };
  if (event.type === 'mcp_tool_call_end' && isFields(event.result)) {
    const { Ok: ok, Err: error } = event.result;
    if (error !== undefined) return { status: 'error', error: { message: label(error) ?? '' } };
    const isError = fields(ok).is_error === true || fields(ok).isError === true;
    return isError ? { status: 'error', error: { message: '' } } : { status: 'ok' };
  }
  return undefined;
}

/**
 * In older versions shells answer `{output, metadata: {exit_code}}`, so the result has the status.
 */
function withOutcome(turn: Turn, outcomes: ReadonlyMap<string, Outcome>): Turn {
  if (turn.role !== 'tool') return turn;
  const { output, metadata } = fields(turn.result);
  const exit = fields(metadata).exit_code;
  const known = outcomes.get(turn.callId ?? '');
  let outcome = known;
  if (outcome === undefined && exit === 0) outcome = { status: 'ok' };
  else if (outcome === undefined && typeof exit === 'number')
    outcome = { status: 'error', error: { message: label(output) ?? '', code: exit } };
  const result = typeof exit === 'number' && typeof output === 'string' ? output : turn.result;
  return { ...turn, result, ...outcome };
}
