import type { Failure, Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { textOf } from '../../build/answer.ts';
import { mayBeCall, UNNAMED } from '../../build/blocks.ts';
import { Dialogue, extend, type OpenReply } from '../../build/dialogue.ts';
import type { Call, Draft, GapNote, Turn } from '../../build/draft.ts';
import { messageTurns, roleOf, turnOfText } from '../../build/messages.ts';
import { timeSpan } from '../../build/time-span.ts';
import {
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  resultOf,
  text,
  time,
} from '../../build/values.ts';

/** State of earlier runs in a thread. */
export interface AgUiPast {
  /** Messages by id. */
  readonly messages: Map<string, string>;
  readonly calls: Map<string, Call>;
}

/**
 * A run from its events, with texts and calls in pieces. The protocol has no tokens and no failure
 * flag.
 */
export class AgUiRun {
  readonly #dialogue = new Dialogue();
  readonly #replies = new Map<string, OpenReply>();
  readonly #texts = new Map<
    string,
    { role: Turn['role']; text: string; reply: OpenReply | undefined }
  >();
  readonly #calls = new Map<string, { args: string; name: string; reply: OpenReply }>();
  readonly #times: (number | undefined)[] = [];
  /** Messages of this and earlier runs by id. Some servers start ids over in each run. */
  readonly #known: Map<string, string>;
  /** Key of the latest message or call with an id, which may be reused. */
  readonly #newest = new Map<string, string>();
  /** Calls of this and earlier runs. */
  readonly #allCalls: Map<string, Call>;
  #open: OpenReply | undefined;
  #lastText = '';
  #lastCall = '';
  #id: string | undefined;
  #thread: string | undefined;
  #isStarted = false;
  #isFinished = false;
  #error: Failure | undefined;
  #result: unknown;
  #hasContent = false;
  readonly #gaps: GapNote[] = [];

  constructor({ messages, calls }: AgUiPast) {
    this.#known = messages;
    this.#allCalls = calls;
  }

  add(event: Fields): void {
    this.#times.push(time(event.timestamp));
    const type = String(event.type as string);
    if (type === 'RUN_STARTED') this.#start(event);
    else if (type === 'RUN_FINISHED') {
      this.#isFinished = true;
      this.#result = event.result ?? undefined;
    } else if (type === 'RUN_ERROR')
      this.#error = { message: label(event.message), code: label(event.code) };
    else if (type === 'MESSAGES_SNAPSHOT') this.#snapshot(objects(event.messages));
    else if (/^(?:REASONING_MESSAGE|THINKING(?:_TEXT_MESSAGE)?)_(?:CONTENT|CHUNK)$/.test(type))
      this.#think(event);
    else if (type.startsWith('TEXT_MESSAGE_')) this.#say(type, event);
    else if (type.startsWith('TOOL_CALL_')) this.#call(type, event);
    else if (/^(?:RAW|CUSTOM|ACTIVITY_.+)$/.test(type)) this.#own(event);
  }

  /** Undefined if the events mention nothing, because a state alone is not a run. */
  draft(format: string): Draft | undefined {
    for (const [id, { role, text: said, reply }] of this.#texts) {
      this.#known.set(id, said);
      if (reply !== undefined)
        extend(reply, { parts: said === '' ? [] : [{ type: 'text', text: said }] });
      else if (role !== 'assistant') this.#dialogue.hear(turnOfText(role, said));
    }
    for (const [id, { args, name, reply }] of this.#calls) {
      const call: Call = { id, name, ...argumentsOf(args) };
      this.#allCalls.set(id, call);
      extend(reply, { parts: [], calls: [call] });
    }
    if (!this.#isStarted && !this.#hasContent) return undefined;
    return {
      source: { format },
      steps: this.#dialogue.steps,
      turns: this.#dialogue.turns,
      ...timeSpan(this.#times),
      id: this.#id,
      error: this.#error,
      status: this.#status(),
      final: typeof this.#result === 'string' ? { text: text(this.#result) ?? '' } : undefined,
      gaps: this.#gaps,
      records: { toolCalls: 'full', toolArgs: 'full', toolResults: 'full', prompts: 'full' },
      meta: { thread: this.#thread },
    };
  }

  /** A custom event may mention a call. */
  #own(event: Fields): void {
    const name = label(pick(event, 'name', 'activityType', 'activity_type'));
    const said = [fields(event.value), fields(event.content), fields(event.event)];
    const isCall =
      mayBeCall({ type: words(name) }) ||
      said.some((value) => mayBeCall(value) || namesTool(value));
    if (isCall)
      this.#gaps.push({ gap: 'unknownBlock', detail: (name ?? String(event.type)).slice(0, 80) });
  }

  #status(): Trace['status'] | undefined {
    if (this.#error !== undefined) return 'error';
    return this.#isFinished ? undefined : 'incomplete';
  }

  #start(event: Fields): void {
    this.#isStarted = true;
    this.#id = label(pick(event, 'runId', 'run_id'));
    this.#thread = label(pick(event, 'threadId', 'thread_id'));
    // Messages before this run are its input.
    const told = objects(fields(event.input).messages).map((message) => {
      const turns = messageTurns(plain(message));
      const id = label(message.id);
      if (id !== undefined) this.#known.set(id, wordsOf(turns));
      return turns;
    });
    // Its calls and their results are of earlier runs.
    for (const call of told.flat().flatMap(({ calls }) => calls ?? []))
      if (call.id !== undefined) this.#allCalls.set(call.id, call);
    for (const { calls: _, ...turn } of told.flat())
      if (turn.role !== 'tool' || !this.#allCalls.has(turn.callId ?? '')) this.#dialogue.hear(turn);
  }

  #reply(id: string | undefined): OpenReply {
    const found = id === undefined ? this.#open : this.#replies.get(id);
    if (found !== undefined) return found;
    const reply = this.#dialogue.reply(turnOfText('assistant', ''));
    this.#open = reply;
    this.#hasContent = true;
    if (id !== undefined) this.#replies.set(id, reply);
    return reply;
  }

  #say(type: string, event: Fields): void {
    const id =
      label(pick(event, 'messageId', 'message_id')) ??
      (type === 'TEXT_MESSAGE_CHUNK' ? this.#lastText : '');
    this.#lastText = id;
    if (type === 'TEXT_MESSAGE_START' && this.#texts.has(id)) this.#setAside(id);
    let message = this.#texts.get(id);
    if (message === undefined) {
      if (type === 'TEXT_MESSAGE_END' || id === '') return;
      const role = roleOf(event.role) ?? 'assistant';
      message = {
        role,
        text: '',
        reply: role === 'assistant' ? this.#fresh(id, label(event.name)) : undefined,
      };
      this.#texts.set(id, message);
    }
    if (typeof event.delta === 'string') message.text += event.delta;
  }

  /** Keeps an earlier message whose id is reused. */
  #setAside(id: string): void {
    const before = this.#texts.get(id);
    this.#texts.delete(id);
    this.#replies.delete(id);
    if (before !== undefined) this.#texts.set(`${id}#${this.#texts.size + 1}`, before);
  }

  #fresh(id: string, agent: string | undefined): OpenReply {
    const thought = this.#open;
    const isThought =
      thought?.output.parts.every((part) => part.type === 'reasoning') === true &&
      thought.output.calls === undefined;
    const reply = isThought && !this.#isTaken(thought) ? thought : undefined;
    if (reply !== undefined) this.#replies.set(id, reply);
    else this.#open = undefined;
    const open = this.#reply(id);
    this.#open = open;
    if (agent !== undefined) open.agent = agent;
    return open;
  }

  /** Whether a message or a call is already part of it. */
  #isTaken(reply: OpenReply): boolean {
    return [...this.#texts.values(), ...this.#calls.values()].some((one) => one.reply === reply);
  }

  #think(event: Fields): void {
    const said = text(event.delta) ?? '';
    if (this.#open !== undefined && this.#isTaken(this.#open)) this.#open = undefined;
    extend(this.#reply(undefined), { parts: [{ type: 'reasoning', text: said }] });
  }

  #call(type: string, event: Fields): void {
    const written = label(pick(event, 'toolCallId', 'tool_call_id')) ?? this.#lastCall;
    this.#lastCall = written;
    // A call that starts again is a new one.
    if (
      type === 'TOOL_CALL_START' &&
      written !== '' &&
      this.#calls.has(this.#newest.get(written) ?? written)
    )
      this.#newest.set(written, `${written}#${this.#calls.size + 1}`);
    const id = this.#newest.get(written) ?? written;
    if (type === 'TOOL_CALL_RESULT') {
      this.#hasContent = true;
      const asked = this.#calls.has(id) ? undefined : this.#allCalls.get(id);
      // The call was requested in an earlier run and executed in this one.
      if (asked !== undefined)
        this.#dialogue.add({
          kind: 'tool',
          callId: id,
          evidence: ['message'],
          ...callFields(asked),
        });
      this.#dialogue.hear({
        role: 'tool',
        parts: [],
        callId: id,
        result: resultOf(event.content),
      });
      this.#open = undefined;
      return;
    }
    let call = this.#calls.get(id);
    if (call === undefined) {
      // Pieces of a call whose start was not recorded are of a call without a name.
      const name =
        label(pick(event, 'toolCallName', 'tool_call_name')) ?? (id === '' ? undefined : UNNAMED);
      if (name === undefined) return;
      const parent = label(pick(event, 'parentMessageId', 'parent_message_id'));
      const known = parent === undefined ? undefined : this.#replies.get(parent);
      call = { name, args: '', reply: known ?? this.#reply(undefined) };
      this.#calls.set(id, call);
    }
    if (typeof event.delta === 'string') call.args += event.delta;
  }

  /**
   * Whether a snapshot message is already known: from this run, or an earlier one with the same
   * text and calls.
   */
  #isRepeated(id: string, turns: readonly Turn[]): boolean {
    if (this.#texts.has(id) || this.#replies.has(id)) return true;
    const calls = turns.flatMap((turn) => turn.calls ?? []);
    return (
      this.#known.get(id) === wordsOf(turns) &&
      calls.every(
        (call) =>
          call.id !== undefined && (this.#allCalls.has(call.id) || this.#calls.has(call.id)),
      )
    );
  }

  #snapshot(messages: readonly Fields[]): void {
    for (const message of messages) {
      const id = label(message.id);
      const turns = messageTurns(plain(message));
      if (id !== undefined && this.#isRepeated(id, turns)) continue;
      if (id !== undefined) this.#known.set(id, wordsOf(turns));
      if (message.role === 'activity' || message.role === 'reasoning') continue;
      for (const turn of turns) {
        if (turn.role === 'assistant') {
          const calls = (turn.calls ?? []).filter(
            (call) => call.id === undefined || !this.#calls.has(call.id),
          );
          if (calls.length === 0 && turn.parts.length === 0) continue;
          this.#hasContent = true;
          const { calls: _, ...said } = turn;
          this.#dialogue.reply({ ...said, calls: calls.length !== 0 ? calls : undefined });
        } else this.#dialogue.hear(turn);
      }
    }
    this.#open = undefined;
  }
}

const wordsOf = (turns: readonly Turn[]): string =>
  turns.map((turn) => textOf(turn) ?? '').join('\n');

/** `ON_TOOL_START` and `ToolStart` alike. */
const words = (name: string | undefined): string | undefined =>
  name?.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();

const namesTool = (value: Fields): boolean =>
  ['tool', 'toolName', 'tool_name', 'toolCallName', 'toolCalls', 'tool_calls'].some((key) =>
    isSomething(value[key]),
  );
const isSomething = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'string') return value !== '';
  return isFields(value);
};

const callFields = ({ name, args, argsRaw }: Call) => ({ name, args, argsRaw });

/** Messages in the protocol's camelCase as the rest of the world writes them. */
const plain = (message: Fields): Fields =>
  isFields(message) && Array.isArray(message.toolCalls)
    ? { ...message, tool_calls: message.toolCalls }
    : message;
