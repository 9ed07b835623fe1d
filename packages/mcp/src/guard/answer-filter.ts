import { isObject } from '@agentci/lib/data';
import { visibleName } from '@agentci/lib/text';
import type { LiveVerdict } from '@agentci/policy';
import { definitionsIn } from '@agentci/policy';
import { isModern, type Message, messageText } from '../message.ts';
import { filterTools } from './filter-tools.ts';
import { type GuardLog, isKeptBy } from './guard-log.ts';
import type { GuardOptions } from './guard-options.ts';
import { outcomeOf } from './outcome.ts';
import { policyCall } from './policy-call.ts';
import { type AnswerPart, answerFlaw, readAnswer } from './read-answer.ts';
import { FAILED, NOT_NOTED, type RefusalReason, refusalReason, refusalReply } from './refusal.ts';
import { type OpenCall, requestKey, type Session } from './session.ts';

const MAX_WAITING = 1000;
const MAX_TOOLS = 10_000;
/** Replaces a dropped message. */
const NOTHING = '';

/**
 * Processes answers of servers. Filters hidden tools from lists and withholds forbidden results.
 * Everything else stays unchanged, byte for byte. If the policy reads results, only parsed answers
 * are forwarded.
 */
export class AnswerFilter {
  readonly #options: GuardOptions;
  readonly #log: GuardLog;
  readonly #isShadow: boolean;

  constructor(options: GuardOptions, log: GuardLog) {
    this.#options = options;
    this.#log = log;
    this.#isShadow = options.mode === 'shadow';
  }

  /** Whether an unreadable answer must be withheld. */
  mustRead({ judge, lists }: Session): boolean {
    return !this.#isShadow && (judge.looksAtResults || lists.size > 0);
  }

  take(bytes: Buffer, session: Session): Buffer {
    const { open, lists, hellos, judge } = session;
    if (!judge.looksAtResults && open.size + lists.size + hellos.size === 0) return bytes;
    const text = bytes.toString('utf8');
    if (text.trim() === '') return bytes;
    const mustRead = this.mustRead(session);
    const read = readAnswer(text);
    if (read === undefined) {
      if (!mustRead) return bytes;
      this.#withhold(session, 'it cannot be read');
      return Buffer.alloc(0);
    }
    const { parts, joined } = read;
    const texts = parts.map((part) => this.#handOn(part, session));
    if (this.#isShadow || texts.every((each, i) => each === parts[i]!.text)) return bytes;
    return Buffer.from(joined(texts));
  }

  /** Fails requests with this text, which is judged as the error of their calls. */
  fail(
    bytes: Buffer,
    {
      keys,
      status,
      session,
    }: { readonly keys: readonly string[]; readonly status: number; readonly session: Session },
  ): Buffer {
    const text = bytes.toString('utf8').trim();
    const error = { message: text || `HTTP ${status}` };
    const flaw = /[\0\ufffd]/.test(text) ? 'it is not UTF-8' : undefined;
    let isWithheld = false;
    for (const key of keys) {
      const call = session.open.get(key);
      for (const open of [
        session.open,
        session.lists,
        session.hellos,
        session.others,
        session.cancelled,
      ])
        open.delete(key);
      if (call === undefined) continue;
      const instead = this.#finish(call, { message: { error }, result: {}, flaw }, session);
      isWithheld ||= instead !== undefined;
    }
    return isWithheld ? Buffer.alloc(0) : bytes;
  }

  /** The text that a client gets for a message. */
  #handOn(part: AnswerPart, session: Session): string {
    const { message, text } = part;
    const flaw = session.judge.looksAtResults ? answerFlaw(part) : undefined;
    if (message === undefined || message.method !== undefined) {
      if (flaw !== undefined) this.#withhold(session, flaw);
      return flaw === undefined ? text : NOTHING;
    }
    const key = requestKey(message.id, session);
    const result = isObject(message.result) ? message.result : {};
    if (key === undefined) {
      if (session.judge.looksAtResults) {
        this.#withhold(session, 'no request has its id');
        return NOTHING;
      }
      // A client that takes it for the answer to a request must not see hidden tools.
      return this.#filtered(text, result, session);
    }
    session.others.delete(key);
    session.cancelled.delete(key);
    if (session.hellos.delete(key) && typeof result.protocolVersion === 'string')
      session.version = result.protocolVersion;
    const call = session.open.get(key);
    if (call !== undefined) {
      session.open.delete(key);
      const instead = this.#finish(call, { message, result, flaw }, session);
      return instead === undefined ? text : messageText(instead);
    }
    if (flaw !== undefined) {
      session.lists.delete(key);
      this.#withhold(session, flaw);
      return NOTHING;
    }
    if (session.lists.delete(key) && session.judge.looksAtTools) this.#learn(result, session);
    return this.#filtered(text, result, session);
  }

  #filtered(text: string, result: Message, session: Session): string {
    return Array.isArray(result.tools)
      ? filterTools(text, (name) => this.#isHidden(name, session))
      : text;
  }

  /** Called for an answered call. Returns a replacement if the answer must be withheld. */
  #finish(
    call: OpenCall,
    {
      message,
      result,
      flaw,
    }: { readonly message: Message; readonly result: Message; readonly flaw: string | undefined },
    session: Session,
  ): Message | undefined {
    // Clients of older versions read it as a result, so it is judged as one.
    const isKnown = !session.judge.looksAtResults || isModern(call.version);
    const isAsking = result.resultType === 'input_required' && isKnown;
    if (isAsking && session.waiting.length < MAX_WAITING) {
      const { requestState: state } = result;
      session.waiting.push({ ...call, state: typeof state === 'string' ? state : call.state });
    }
    if (!session.judge.looksAtResults) return undefined;
    if (flaw !== undefined)
      return this.#refusal(
        call,
        { ...UNREADABLE, reason: `the answer was withheld: ${flaw}` },
        session,
      );
    if (isObject(result.task) || result.resultType === 'task')
      return this.#refusal(call, TASK, session);
    const outcome = {
      ...outcomeOf(message),
      latency_ms: (this.#options.now ?? Date.now)() - call.startedMs,
    };
    let verdict: LiveVerdict;
    try {
      verdict = isAsking
        ? session.judge.probe(policyCall(this.#options, call.tool, call.given), outcome)
        : session.judge.settle(call.at, outcome);
    } catch (error) {
      this.#options.onProblem(`a result could not be judged: ${(error as Error).message}`);
      verdict = FAILED;
    }
    // A server's question does not end the call, so it is only logged if withheld.
    const isNoted =
      (isAsking && isKeptBy(verdict)) || this.#log.result(session, call, outcome, verdict);
    let withheld: RefusalReason | undefined;
    if (isKeptBy(verdict)) withheld = isNoted ? undefined : NOT_NOTED;
    else withheld = refusalReason(verdict);
    return withheld === undefined ? undefined : this.#refusal(call, withheld, session);
  }

  #refusal(call: OpenCall, reason: RefusalReason, session: Session): Message | undefined {
    if (this.#isShadow) return undefined;
    session.withheld++;
    const { denyAs, policy } = this.#options;
    return refusalReply(call.id, reason, {
      policy: policy.file,
      version: call.version ?? session.version,
      denyAs,
    });
  }

  #withhold(session: Session, why: string): void {
    if (this.#isShadow) return;
    session.withheld++;
    this.#options.onProblem(`a message of the server was withheld: ${why}`);
  }

  #learn(result: unknown, session: Session): void {
    const tools = definitionsIn(result) ?? [];
    for (const tool of tools)
      if (session.tools.size < MAX_TOOLS) session.tools.set(tool.name, tool);
    session.judge.learn({ tools: [...session.tools.values()] });
    this.#log.tools(session, tools);
  }

  #isHidden(name: string, { judge }: Session): boolean {
    if (visibleName(name) !== name) return true;
    const call = policyCall(this.#options, name, {});
    return judge.forbids(call) !== undefined || (judge.looksAtTools && judge.distrusts(call));
  }
}

const UNREADABLE = { rule: 'guard.unreadable_answer', policy_line: null };
const TASK: RefusalReason = {
  rule: 'guard.task',
  reason:
    'the policy looks at results, and the server made a task of the call, whose result cannot be judged',
  policy_line: null,
};
