import { present } from '@agentci/lib/data';
import type { Step } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { contentOf, outcomeOf, UNNAMED } from '../../build/blocks.ts';
import { Dialogue, extend, type OpenReply } from '../../build/dialogue.ts';
import type { Call, Draft, GapNote, Turn } from '../../build/draft.ts';
import { endOf } from '../../build/draft.ts';
import { messageTurns, turnOfText } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { timeSpan } from '../../build/time-span.ts';
import { anthropicUsage } from '../../build/token-usage.ts';
import { argumentsOf, fields, label, pick, text, time } from '../../build/values.ts';

const TYPE = /^(?:agent|user|session|span)\.[a-z_]+$/;

export const isEvent = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === 'string' &&
  TYPE.test(value.type) &&
  // Copilot uses similar event names, but nests their content in an object.
  !isFields(value.data) &&
  ('id' in value || value.type.startsWith('user.'));

/** Events that mention no call and no words. */
const QUIET =
  /^(?:session\.(?:status|thread_status|updated|outcome|usage)\w*|span\.\w+|agent\.(?:thinking|thread_context_compacted)|user\.(?:interrupt|define_outcome))$/;

/**
 * A session from its events. Each model request is a reply, with the text and calls between its
 * start and end.
 */
export function sessionDraft(events: readonly Fields[], session: Fields, format: string): Draft {
  const run = new SessionRun(fields(session.agent), events);
  for (const event of events) run.add(event);
  const last = events.findLast(({ type }) => /^session\.(?:status_|error)/.test(label(type) ?? ''));
  const isOver =
    last !== undefined &&
    last.type !== 'session.status_running' &&
    last.type !== 'session.status_rescheduled';
  const stop = fields(last?.stop_reason).type;
  const failure = run.failure;
  return {
    source: { format },
    steps: run.dialogue.steps,
    turns: run.dialogue.turns,
    records: AGENT_RECORD,
    gaps: present([
      ...run.gaps,
      ...run.absent(),
      isOver || last === undefined
        ? undefined
        : { gap: 'cutOff' as const, detail: 'the session still ran' },
    ]),
    ...timeSpan(events.map(({ processed_at }) => time(processed_at))),
    id: label(session.id),
    ...endOf(
      failure === undefined ? undefined : { message: failure },
      !isOver || stop === 'requires_action',
    ),
  };
}

class SessionRun {
  readonly dialogue = new Dialogue();
  readonly gaps: GapNote[] = [];
  failure: string | undefined;
  readonly #agent: string | undefined;
  readonly #model: string | undefined;
  readonly #starts = new Map<string, OpenReply>();
  /** Calls that were requested, and those that other events name. */
  readonly #asked = new Set<string>();
  readonly #named = new Set<string>();
  readonly #denied: ReadonlySet<string>;
  #open: OpenReply | undefined;

  constructor(agent: Fields, events: readonly Fields[]) {
    this.#agent =
      label(agent.name) ??
      events.map(({ agent_name }) => label(agent_name)).find((name) => name !== undefined);
    this.#model = label(fields(agent.model).id) ?? label(agent.model);
    this.#denied = new Set(
      events.flatMap(({ type, result, tool_use_id }) =>
        type === 'user.tool_confirmation' && result === 'deny' ? (label(tool_use_id) ?? []) : [],
      ),
    );
  }

  add(event: Fields): void {
    const type = label(event.type) ?? '';
    const at = time(event.processed_at);
    if (type === 'span.model_request_start') {
      this.#open = this.#reply(at);
      this.#starts.set(label(event.id) ?? '', this.#open);
    } else if (type === 'span.model_request_end') this.#close(event, at);
    else if (type === 'user.message') {
      this.#open = undefined;
      this.dialogue.hear(...messageTurns({ role: 'user', content: event.content }));
    } else if (type === 'agent.message')
      extend(this.#current(at), { parts: contentOf(event.content).parts });
    else if (/_tool_use$|\.tool_use$/.test(type)) this.#call(event, at);
    else if (/tool_result$/.test(type)) this.#result(event);
    else if (type === 'session.error')
      this.failure = text(fields(event.error).message) ?? 'the session failed';
    else if (type === 'session.thread_created' || type.startsWith('agent.thread_message'))
      this.gaps.push({
        gap: 'unlinked',
        detail: `thread ${label(pick(event, 'session_thread_id', 'to_session_thread_id', 'from_session_thread_id')) ?? ''}`,
      });
    else if (type === 'user.tool_confirmation') this.#named.add(label(event.tool_use_id) ?? '');
    else if (!QUIET.test(type)) this.gaps.push({ gap: 'unknownBlock', detail: type.slice(0, 80) });
    const { event_ids } = fields(event.stop_reason);
    if (Array.isArray(event_ids)) for (const id of event_ids) this.#named.add(label(id) ?? '');
  }

  /** Calls that the session waits for, or that were confirmed, and that are not there. */
  absent(): GapNote[] {
    const gone = [...this.#named].filter((id) => id !== '' && !this.#asked.has(id));
    return gone.length === 0
      ? []
      : [{ gap: 'absentChildren', detail: `the call ${gone[0]!.slice(0, 80)}` }];
  }

  #reply(at: number | undefined): OpenReply {
    return this.dialogue.reply(turnOfText('assistant', ''), {
      status: 'ok',
      agent: this.#agent,
      model: this.#model,
      t0: at,
    });
  }

  #current(at: number | undefined): OpenReply {
    this.#open ??= this.#reply(at);
    return this.#open;
  }

  #close(event: Fields, at: number | undefined): void {
    const start = label(event.model_request_start_id) ?? '';
    const reply = this.#starts.get(start);
    if (reply === undefined)
      this.gaps.push({ gap: 'absentChildren', detail: `the model request ${start.slice(0, 80)}` });
    const usage = anthropicUsage(event.model_usage);
    if (reply !== undefined) {
      if (usage !== undefined) reply.usage = usage;
      if (at !== undefined) reply.t1 = at;
      if (event.is_error === true) reply.status = 'error';
    }
    if (reply === this.#open) this.#open = undefined;
  }

  #call(event: Fields, at: number | undefined): void {
    const server = label(event.mcp_server_name);
    const id = label(event.id);
    if (id !== undefined) this.#asked.add(id);
    let by: 'provider' | 'mcp' | 'client' | 'subagent' | undefined;
    if (server !== undefined) by = 'mcp';
    else if (event.type === 'agent.tool_use') by = 'provider';
    const call: Call = {
      name: label(event.name) ?? UNNAMED,
      ...argumentsOf(event.input),
      id,
      server,
      by,
    };
    extend(this.#current(at), { parts: [], calls: [call] });
  }

  #result(event: Fields): void {
    const id = label(pick(event, 'tool_use_id', 'mcp_tool_use_id', 'custom_tool_use_id'));
    this.#open = undefined;
    const { value, parts } = outcomeOf(event.content);
    let status: Step['status'];
    if (id !== undefined && this.#denied.has(id)) status = 'denied';
    else if (event.is_error === true) status = 'error';
    else status = 'ok';
    const turn: Turn = {
      role: 'tool',
      parts,
      status,
      callId: id,
      result: value,
      error:
        event.is_error === true
          ? { message: typeof value === 'string' ? value : JSON.stringify(value ?? '') }
          : undefined,
    };
    this.dialogue.hear(turn);
  }
}
