import { type Fields, isFields } from '@agentci/trace';
import { fields, label, text } from '../../build/values.ts';

/** A line of `codex exec --json` and `codex proto` as they were until 2025: `{id, msg: {type, …}}`. */
export const isProtoLine = (value: unknown): boolean =>
  isFields(value) && isFields(value.msg) && typeof value.msg.type === 'string' && 'id' in value;

/** The same run in the events that `codex exec --json` writes now. A kind that is not known is kept as an item of that kind. */
export function execEvents(lines: readonly Fields[]): Fields[] {
  const events = lines.flatMap((line, i) => eventsOf(fields(line.msg), i));
  const counted = lines.findLast(({ msg }) => fields(msg).type === 'token_count');
  const counts = fields(counted?.msg);
  const usage = isFields(counts.info) ? fields(counts.info).total_token_usage : counts;
  return events.map((event) =>
    event.type === 'turn.completed' && counted !== undefined ? { ...event, usage } : event,
  );
}

/** Irrelevant events, and those repeated completely in another line. */
const PASSED =
  /^(?:session_configured|token_count|task_started|.*_delta|turn_diff|user_message|agent_reasoning_section_break|background_event|agent_reasoning_raw_content|plan_update|.*approval_request|list_.*|get_.*|shutdown_complete|turn_aborted|stream_error)$/;

function eventsOf(msg: Fields, index: number): Fields[] {
  const type = String(msg.type);
  const id = `${label(msg.call_id) ?? `line-${index}`}.`;
  const item = (kind: string, more: Fields): Fields[] => [
    { type: 'item.completed', item: { id, type: kind, ...more } },
  ];
  switch (type) {
    case 'session_configured':
      return [{ type: 'thread.started', thread_id: msg.session_id }];
    case 'task_started':
      return [{ type: 'turn.started' }];
    case 'task_complete':
      return [{ type: 'turn.completed' }];
    case 'error':
      return [{ type: 'turn.failed', error: { message: msg.message } }];
    case 'agent_message':
      return item('agent_message', { text: msg.message });
    case 'agent_reasoning':
      return item('reasoning', { text: msg.text });
    case 'exec_command_begin':
      return item('command_execution', { command: commandOf(msg.command), status: 'in_progress' });
    case 'exec_command_end':
      return item('command_execution', {
        aggregated_output:
          text(msg.aggregated_output) ?? `${text(msg.stdout) ?? ''}${text(msg.stderr) ?? ''}`,
        exit_code: msg.exit_code,
        status: 'completed',
      });
    case 'mcp_tool_call_begin':
    case 'mcp_tool_call_end': {
      const { server, tool, arguments: given } = fields(msg.invocation ?? msg);
      const outcome = fields(msg.result);
      const isDone = type === 'mcp_tool_call_end';
      const called = { server, tool, arguments: given };
      const ended = { result: outcome.Ok ?? outcome, error: outcome.Err, status: 'completed' };
      return item(
        'mcp_tool_call',
        isDone
          ? { ...known(called), ...known(ended) }
          : { ...known(called), status: 'in_progress' },
      );
    }
    case 'patch_apply_begin':
      return item('file_change', {
        changes: Object.entries(fields(msg.changes)).map(([path, change]) => ({
          path,
          ...fields(change),
        })),
        status: 'in_progress',
      });
    case 'patch_apply_end':
      return item('file_change', { status: msg.success === false ? 'failed' : 'completed' });
    case 'web_search_begin':
    case 'web_search_end':
      return item('web_search', known({ query: msg.query, status: 'completed' }));
    default:
      return PASSED.test(type) ? [] : item(type, msg);
  }
}

const known = (given: Fields): Fields =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  );

const commandOf = (command: unknown): unknown =>
  Array.isArray(command) && command.every((word) => typeof word === 'string')
    ? command.join(' ')
    : command;
