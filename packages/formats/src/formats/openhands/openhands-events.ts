import type { Step } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Draft, GapNote, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns, turnOfText } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { timeSpan } from '../../build/time-span.ts';
import { usageOf } from '../../build/token-usage.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  resultOf,
  text,
  time,
} from '../../build/values.ts';

/** An OpenHands event is an action or an observation; other agents' steps are both. */
export const isEvent = (value: unknown): boolean =>
  isFields(value) &&
  (typeof value.action === 'string') !== (typeof value.observation === 'string') &&
  ['args', 'extras', 'source', 'thought', 'content', 'cause', 'message'].some(
    (key) => key in value,
  ) &&
  !('role' in value);

/** Actions of the program, and those with only a message. */
const NO_CALL = new Set([
  'message',
  'system',
  'null',
  'change_agent_state',
  'start',
  'pause',
  'resume',
  'stop',
  'recall',
  'condensation',
  'condensation_request',
  'loop_recovery',
]);

/**
 * A run from its events. With function calling each event has its model reply, which shows every
 * requested call. Without, every action of the agent is one reply.
 */
export function eventsDraft(events: readonly Fields[], format: string): Draft {
  const run = new EventRun();
  for (const event of events) run.add(event);
  const last = events.findLast(({ llm_metrics }) => isFields(llm_metrics));
  const metrics = fields(last?.llm_metrics);
  const usd = amount(metrics.accumulated_cost);
  return {
    source: { format },
    steps: run.dialogue.steps,
    turns: run.dialogue.turns,
    records: AGENT_RECORD,
    gaps: run.gaps,
    ...timeSpan(events.map(({ timestamp }) => time(timestamp))),
    final: run.answer === undefined ? undefined : { text: run.answer },
    status: run.failure === undefined ? undefined : ('error' as const),
    error: run.failure === undefined ? undefined : { message: run.failure },
    reported: {
      cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
      usage: usageOf(metrics.accumulated_token_usage),
    },
  };
}

class EventRun {
  readonly dialogue = new Dialogue();
  readonly gaps: GapNote[] = [];
  answer: string | undefined;
  failure: string | undefined;
  readonly #replies = new Set<string>();
  /** Calls that a reply asked for. */
  readonly #told = new Set<string>();
  /** Call ids by action id. Without ids an observation belongs to the previous action. */
  readonly #callOf = new Map<string, string>();
  #lastCall: string | undefined;
  #count = 0;

  add(event: Fields): void {
    if (typeof event.action === 'string') this.#act(event, event.action);
    else if (typeof event.observation === 'string') this.#observe(event, event.observation);
  }

  #act(event: Fields, action: string): void {
    const args = argsOf(event);
    const isAgents =
      event.source === undefined
        ? action !== 'message' || 'wait_for_response' in event
        : event.source === 'agent';
    const said =
      text(pick(args, 'content', 'final_thought', 'thought')) ?? text(event.message) ?? '';
    this.#reply(event);
    if (action === 'message') {
      const isUsers = event.source === 'user' || (event.source === undefined && !this.#hasSpoken());
      if (isUsers) this.dialogue.hear(turnOfText('user', said));
      else if (!this.#isToldBy(event)) this.dialogue.reply(turnOfText('assistant', said));
      return;
    }
    if (action === 'system') this.dialogue.hear(turnOfText('system', said));
    if (action === 'finish')
      this.answer =
        text(pick(args, 'final_thought', 'thought')) || text(event.message) || this.answer;
    if (NO_CALL.has(action)) return;
    this.#call(event, { action, args, isAgents });
  }

  #hasSpoken(): boolean {
    return this.dialogue.steps.length > 0 || this.dialogue.turns.length > 0;
  }

  #isToldBy = (event: Fields): boolean => isFields(fields(event.tool_call_metadata).model_response);

  /** The reply of an event, once. */
  #reply(event: Fields): void {
    const response = fields(fields(event.tool_call_metadata).model_response);
    const [choice] = objects(response.choices);
    if (choice === undefined) return;
    const id = label(response.id) ?? JSON.stringify(choice);
    if (this.#replies.has(id)) return;
    this.#replies.add(id);
    const turn =
      messageTurns({ ...fields(choice.message), role: 'assistant' })[0] ??
      turnOfText('assistant', '');
    for (const call of turn.calls ?? []) if (call.id !== undefined) this.#told.add(call.id);
    this.dialogue.reply(turn, {
      status: 'ok',
      model: label(response.model),
      responseId: label(response.id),
      usage: usageOf(response.usage),
      finish: finishOf(choice.finish_reason),
    });
  }

  #call(
    event: Fields,
    { action, args, isAgents }: { action: string; args: Fields; isAgents: boolean },
  ): void {
    const metadata = fields(event.tool_call_metadata);
    const id = label(metadata.tool_call_id) ?? `action ${label(event.id) ?? `#${++this.#count}`}`;
    const isMcp = action === 'call_tool_mcp';
    const name = label(metadata.function_name) ?? (isMcp ? label(args.name) : undefined) ?? action;
    const own = label(event.id);
    if (own !== undefined) this.#callOf.set(own, id);
    this.#lastCall = id;
    if (action === 'delegate')
      this.dialogue.add({ kind: 'handoff', to: label(args.agent) ?? 'delegate', mode: 'return' });
    if (this.#told.has(id)) return;
    const given = isMcp ? args.arguments : withoutThought(args);
    const call: Call = {
      id,
      name,
      ...argumentsOf(given),
      by: isMcp ? ('mcp' as const) : undefined,
      actor: isAgents ? undefined : ('user' as const),
    };
    const thought = text(args.thought) ?? '';
    if (isAgents) this.dialogue.reply({ ...turnOfText('assistant', thought), calls: [call] });
    else
      this.dialogue.add({ kind: 'tool', name, callId: id, ...argumentsOf(given), actor: 'user' });
  }

  #observe(event: Fields, observation: string): void {
    const extras = isFields(event.extras) ? event.extras : event;
    if (observation === 'agent_state_changed') {
      if (extras.agent_state === 'error')
        this.failure = text(extras.reason) || 'the agent stopped with an error';
      return;
    }
    if (
      ['null', 'recall', 'condense', 'loop_detection', 'think', 'message', 'chat'].includes(
        observation,
      ) &&
      !isFields(event.tool_call_metadata)
    )
      return;
    this.#reply(event);
    const cause = label(event.cause);
    const known =
      label(fields(event.tool_call_metadata).tool_call_id) ?? this.#callOf.get(cause ?? '');
    const callId = known ?? (cause === undefined ? this.#lastCall : `action ${cause}`);
    if (cause === undefined) this.#lastCall = undefined;
    // A message about a failure that no action caused is about the run.
    if (observation === 'error' && callId === undefined) return;
    this.dialogue.hear(resultOfEvent(event, { observation, extras, callId }));
  }
}

function resultOfEvent(
  event: Fields,
  {
    observation,
    extras,
    callId,
  }: { observation: string; extras: Fields; callId: string | undefined },
): Turn {
  const said = text(event.content) ?? text(event.message);
  const status = statusOf(event, observation, extras);
  const code = exitOf(extras);
  return {
    role: 'tool',
    parts: [],
    callId,
    name:
      callId === undefined
        ? (label(fields(event.tool_call_metadata).function_name) ?? observation)
        : undefined,
    result: resultOf(said),
    status,
    error: status === 'error' ? { message: said ?? '', code } : undefined,
  };
}

/** A command with another exit code than 0 failed. Other observations are explicit about errors. */
function statusOf(event: Fields, observation: string, extras: Fields): Step['status'] | undefined {
  if (observation === 'error') return 'error';
  if (observation === 'user_rejected') return 'denied';
  if (typeof event.success === 'boolean') return event.success ? 'ok' : 'error';
  const code = exitOf(extras);
  if (code === undefined) return undefined;
  if (code === 0) return 'ok';
  return 'error';
}

function exitOf(extras: Fields): number | undefined {
  const code = fields(extras.metadata).exit_code ?? extras.exit_code;
  // -1 means that the command still runs.
  return typeof code === 'number' && code !== -1 ? code : undefined;
}

const HOUSEKEEPING = new Set([
  'action',
  'thought',
  'is_confirmed',
  'confirmation_state',
  'security_risk',
  'action_risk',
  'keep_prompt',
  'hidden',
  'blocking',
  'cwd',
  'kernel_init_code',
  'timeout',
  'id',
  'source',
  'timestamp',
  'message',
]);

/** Older rows have the arguments next to the action. */
const argsOf = (event: Fields): Fields => (isFields(event.args) ? event.args : event);

const withoutThought = (args: Fields): Fields =>
  Object.fromEntries(
    Object.entries(args).filter(([key, value]) => !HOUSEKEEPING.has(key) && value !== null),
  );
