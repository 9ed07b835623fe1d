import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { textOf } from '../../build/answer.ts';
import { Dialogue, extend, type OpenReply } from '../../build/dialogue.ts';
import type { Call, DraftStep, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns, roleOf } from '../../build/messages.ts';
import { fields, label } from '../../build/values.ts';

/** The agent that the user talks to. */
export const MAIN_AGENT = 'main';

/** A message as Claude Code wraps it. */
export interface ClaudeLine {
  readonly message: Fields;
  /** The call that started the sub-agent. */
  readonly insideCall?: string;
  /** Id of a sub-agent (possibly empty) whose call is unknown. */
  readonly loose?: string;
  /** Distinguishes two replies with one message id, if the source knows more. */
  readonly requestId?: string;
  readonly at?: number;
}

/**
 * The messages of a Claude Code session as a run. One model reply spans several lines with one
 * message id. A sub-agent's lines name the call that started it, and become an agent inside that
 * call.
 */
export class ClaudeRun {
  readonly steps: DraftStep[] = [];
  /** Text written by Claude Code instead of the model, for example when the provider refuses. */
  apiError: string | undefined;
  readonly #main = new Dialogue(this.steps);
  readonly #threads = new Map<string, Dialogue>();
  readonly #replies = new Map<string, OpenReply>();
  /** Who asked for each call, and how. */
  readonly #calls = new Map<string, { call: Call; insideCall: string | undefined }>();
  readonly #stepOfCall = new Set<string>();
  readonly #denied: ReadonlySet<string>;
  readonly #usageOf: (message: Fields) => Usage | undefined;

  constructor(options: {
    readonly usageOf: (message: Fields) => Usage | undefined;
    /** Ids of the calls the user or the rules refused: a result alone would look like an error. */
    readonly denied?: ReadonlySet<string>;
  }) {
    this.#usageOf = options.usageOf;
    this.#denied = options.denied ?? new Set();
  }

  get hasReplies(): boolean {
    return this.#replies.size > 0;
  }

  /** Results without a reply yet. */
  get turns(): readonly Turn[] {
    return [this.#main, ...this.#threads.values()].flatMap((thread) => thread.turns);
  }

  add(line: ClaudeLine): void {
    const { message, insideCall, loose, at } = line;
    const thread = loose === undefined ? this.#thread(insideCall) : this.#looseThread(loose);
    const turns = messageTurns(message).map((turn) => ({ ...turn, at: at ?? turn.at }));
    if (roleOf(message.role) !== 'assistant') {
      thread.hear(...turns);
      return;
    }
    const said = turns.find(({ role }) => role === 'assistant') ?? {
      role: 'assistant' as const,
      parts: [],
    };
    if (message.model === '<synthetic>') {
      this.apiError = textOf(said);
      return;
    }
    this.apiError = undefined;
    this.#say(line, said, thread);
    thread.hear(...turns.filter(({ role }) => role === 'tool'));
  }

  #say(
    { message, insideCall, loose, requestId, at }: ClaudeLine,
    said: Turn,
    thread: Dialogue,
  ): void {
    const id = label(message.id);
    const key = `${id ?? `line ${this.#replies.size}`} ${requestId ?? ''}`;
    const known = this.#replies.get(key);
    const usage = this.#usageOf(message);
    const finish = finishOf(message.stop_reason);
    if (known === undefined) {
      const inside = loose === undefined ? insideCall : looseKey(loose);
      const where = inside === undefined ? { agent: MAIN_AGENT } : { parent: agentKey(inside) };
      const when = at === undefined ? {} : { t0: at, timing: 'estimated' as const };
      const model = label(message.model);
      const { name: _, ...turn } = said;
      this.#replies.set(key, thread.reply(turn, { ...where, ...when, model, usage, finish }));
    } else {
      extend(known, said);
      known.usage = usage ?? known.usage;
      known.finish = finish ?? known.finish;
    }
    for (const call of said.calls ?? []) {
      if (call.id === undefined || this.#calls.has(call.id)) continue;
      this.#calls.set(call.id, { call, insideCall });
      if (this.#denied.has(call.id)) this.#recordCall(call.id);
    }
  }

  #thread(insideCall: string | undefined): Dialogue {
    if (insideCall === undefined) return this.#main;
    const known = this.#threads.get(insideCall);
    if (known !== undefined) return known;
    const thread = new Dialogue(this.steps);
    this.#threads.set(insideCall, thread);
    this.#recordCall(insideCall);
    const args = fields(this.#calls.get(insideCall)?.call.args);
    const name = label(args.subagent_type) ?? label(args.name) ?? 'subagent';
    this.steps.push({ kind: 'agent', key: agentKey(insideCall), parent: insideCall, name });
    return thread;
  }

  /** A sub-agent of an unknown call is a sibling of the main agent. */
  #looseThread(id: string): Dialogue {
    const key = looseKey(id);
    const known = this.#threads.get(key);
    if (known !== undefined) return known;
    const thread = new Dialogue(this.steps);
    this.#threads.set(key, thread);
    this.steps.push({ kind: 'agent', key: agentKey(key), name: 'subagent' });
    return thread;
  }

  /** A step for a call with more than its message: a refusal, or an agent inside it. */
  #recordCall(id: string): void {
    if (this.#stepOfCall.has(id)) return;
    this.#stepOfCall.add(id);
    const asked = this.#calls.get(id);
    const caller = asked?.insideCall;
    this.steps.push({
      kind: 'tool',
      key: id,
      callId: id,
      name: asked?.call.name ?? 'Task',
      evidence: ['message'],
      ...(caller === undefined ? { agent: MAIN_AGENT } : { parent: agentKey(caller) }),
      status: this.#denied.has(id) ? ('denied' as const) : undefined,
    });
  }
}

const looseKey = (id: string): string => `unknown call ${id}`;
const agentKey = (call: string): string => `agent of ${call}`;

/** Whether a value is a line with a message of the user or the model. */
export const isClaudeMessage = (value: unknown): value is Fields =>
  isFields(value) &&
  (value.type === 'user' || value.type === 'assistant') &&
  isFields(value.message);
