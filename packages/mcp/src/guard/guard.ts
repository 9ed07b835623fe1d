import { canonicalJson, isObject } from '@agentci/lib/data';
import { LiveJudge, type LiveVerdict } from '@agentci/policy';
import {
  errorReply,
  idKey,
  type Message,
  messagesIn,
  replyId,
  requestVersion,
} from '../message.ts';
import { AnswerFilter } from './answer-filter.ts';
import { GuardLog, isKeptBy } from './guard-log.ts';
import type { GuardOptions } from './guard-options.ts';
import { policyCall } from './policy-call.ts';
import { type Flaw, type ReadCall, type ReadMessage, readRequest } from './read-request.ts';
import { FAILED, NOT_NOTED, type RefusalReason, refusalReason, refusalReply } from './refusal.ts';
import { newSession, type OpenCall, requestKey, type Session } from './session.ts';

/** The part of a client's message to forward, and the replies to the rest. */
export interface ClientOutcome {
  readonly forward: Buffer | undefined;
  readonly replies: readonly Message[];
}

/** Maximum number of pending answers of a server. Further calls are refused. */
const MAX_OPEN = 100_000;
/** Methods whose answers are or contain results. */
const TASK_RESULTS = new Set(['tasks/result', 'tasks/get', 'tasks/update']);

/**
 * Judges every message of a client by the policy. Fails closed: undecidable messages are refused.
 */
export class Guard {
  readonly #options: GuardOptions;
  readonly #isShadow: boolean;
  readonly #log: GuardLog;
  readonly #answers: AnswerFilter;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#isShadow = options.mode === 'shadow';
    this.#log = new GuardLog(options);
    this.#answers = new AnswerFilter(options, this.#log);
  }

  /** Starts a history. */
  open(id: string): Session {
    const { policy, strict } = this.#options;
    this.#log.start(id);
    return newSession(id, new LiveJudge(policy, { strict }));
  }

  /** Ends a history. Returns its unmet requirements. */
  close(session: Session): readonly RefusalReason[] {
    const left = session.judge.atEnd();
    this.#log.end(session, left);
    return left;
  }

  /** Processes a server's answer. Returns the part to forward. */
  fromServer(bytes: Buffer, session: Session): Buffer {
    return this.#answers.take(bytes, session);
  }

  /** Processes the body of a failed HTTP answer, which may not be a protocol message. */
  failed(
    bytes: Buffer,
    {
      sent,
      status,
      session,
    }: { readonly sent: readonly Message[]; readonly status: number; readonly session: Session },
  ): Buffer {
    const messages = messagesIn(bytes.toString('utf8')) ?? [];
    const isAnswer = messages.some(
      (message) => 'result' in message || requestKey(message.id, session) !== undefined,
    );
    if (isAnswer) return this.#answers.take(bytes, session);
    const keys = sent.flatMap(({ method, id }) => (method === undefined ? [] : (idKey(id) ?? [])));
    return this.#answers.fail(bytes, { keys, status, session });
  }

  /** Whether an unreadable answer must be withheld. */
  mustRead(session: Session): boolean {
    return this.#answers.mustRead(session);
  }

  /** Processes a message of a client, or a batch. In shadow mode every byte is forwarded. */
  fromClient(bytes: Buffer, session: Session): ClientOutcome {
    const request = readRequest(bytes);
    switch (request.kind) {
      case 'blank':
        return { forward: bytes, replies: [] };
      case 'flaw':
        return this.#isRefused(session, request.flaw, null)
          ? { forward: undefined, replies: [flawReply(null, request.flaw)] }
          : { forward: bytes, replies: [] };
      case 'one': {
        const reply = this.#decide(request.item, session);
        return reply === undefined
          ? { forward: bytes, replies: [] }
          : { forward: undefined, replies: reply };
      }
      case 'batch': {
        const replies: Message[] = [];
        const kept = request.items.filter(({ item }) => {
          const reply = this.#decide(item, session);
          replies.push(...(reply ?? []));
          return reply === undefined;
        });
        if (kept.length === request.items.length) return { forward: bytes, replies };
        const rest = `[${kept.map(({ text }) => text).join(',')}]\n`;
        return { forward: kept.length === 0 ? undefined : Buffer.from(rest), replies };
      }
    }
  }

  /** The client sent a message too long to check. */
  tooLong(session: Session): Message | undefined {
    const flaw = {
      rule: 'guard.too_large',
      code: -32600,
      reason: 'the message is too large to be judged',
    };
    return this.#isRefused(session, flaw, null) ? flawReply(null, flaw) : undefined;
  }

  /** A malformed request. Returns whether it is refused. */
  refuse(session: Session, flaw: Flaw, tool: string | null): boolean {
    return this.#isRefused(session, flaw, tool);
  }

  /** The replies to a refused message. Undefined if it is forwarded. */
  #decide(item: ReadMessage, session: Session): Message[] | undefined {
    const refused = (flaw: Flaw, tool: string | null): Message[] | undefined =>
      this.#isRefused(session, flaw, tool)
        ? [flawReply(replyId(item.message?.id, item.text), flaw)]
        : undefined;
    switch (item.kind) {
      case 'flaw':
        return refused(item.flaw, item.tool);
      case 'other': {
        const { method } = item.message;
        if (session.judge.looksAtResults && typeof method === 'string' && TASK_RESULTS.has(method))
          return refused(TASK, null);
        this.#follow(item.message, session);
        return undefined;
      }
      case 'call': {
        const version = requestVersion(item.message) ?? session.version;
        const id = replyId(item.call.id, item.text);
        const refusal = this.#judge(item.call, session, { id, version });
        const { denyAs, policy } = this.#options;
        return refusal === undefined
          ? undefined
          : [refusalReply(id, refusal, { policy: policy.file, version, denyAs })];
      }
    }
  }

  #follow({ method, id, params }: Message, session: Session): void {
    const key = idKey(id);
    if (method === 'notifications/cancelled' && isObject(params)) {
      const cancelled = idKey(params.requestId);
      if (cancelled !== undefined && session.open.has(cancelled)) session.cancelled.add(cancelled);
    }
    if (method === undefined || key === undefined) return;
    if (method === 'tools/list') session.lists.add(key);
    else if (method === 'initialize') session.hellos.add(key);
    else if (session.judge.looksAtResults && session.others.size < MAX_OPEN)
      session.others.add(key);
  }

  /** The reason for refusing a call. Undefined if it is allowed, and then it counts as made. */
  #judge(
    call: ReadCall,
    session: Session,
    answer: { readonly id: unknown; readonly version: string | undefined },
  ): RefusalReason | undefined {
    const started = performance.now();
    const key = idKey(call.id)!;
    const flaw = this.#callFlaw(call, key, session);
    if (flaw !== undefined) {
      const { rule, reason } = flaw;
      return this.#isRefused(session, flaw, call.name)
        ? { rule, reason, policy_line: null }
        : undefined;
    }
    const args = canonicalJson(call.args);
    const continued = this.#continues(call, args, session);
    const isContinued = continued !== undefined;
    const sent = isContinued ? call.params.inputResponses : undefined;
    const atMs = (this.#options.now ?? Date.now)();
    const verdict = this.#verdict(call, session, { atMs, isContinued, sent });
    const isRefused = !isKeptBy(verdict) && !this.#isShadow;
    const noted = { name: call.name, args: call.args, sent };
    const us = Math.round((performance.now() - started) * 1000);
    const isNoted = this.#log.decision(session, noted, verdict, { isContinued, atMs, us });
    const isStopped = isRefused || (!isNoted && !this.#isShadow);
    if (isStopped && !isContinued && verdict !== FAILED) session.judge.takeBack();
    if (isStopped) {
      session.refused++;
      return isRefused ? refusalReason(verdict) : NOT_NOTED;
    }
    if (!isContinued) session.calls++;
    session.open.set(key, {
      ...answer,
      tool: call.name,
      given: call.args,
      args,
      at: continued?.at ?? session.judge.calls - 1,
      startedMs: continued?.startedMs ?? atMs,
    });
    return undefined;
  }

  /** The reason for refusing a call before the policy is used. */
  #callFlaw(
    { params, number }: ReadCall,
    key: string,
    { open, cancelled, judge }: Session,
  ): Flaw | undefined {
    if (judge.looksAtResults && params.task !== undefined) return TASK;
    if (number !== undefined && judge.looksAtArguments)
      return {
        rule: 'guard.odd_number',
        code: -32602,
        reason: `the number ${number.slice(0, 40)} is read differently by different programs`,
      };
    if (open.has(key))
      return {
        rule: 'guard.duplicate_id',
        code: -32600,
        reason: 'a call with this id has no answer yet',
      };
    if (open.size < MAX_OPEN) return undefined;
    const [oldest] = cancelled;
    if (oldest === undefined)
      return {
        rule: 'guard.too_many_open',
        code: -32600,
        reason: `${MAX_OPEN} calls have no answer yet`,
      };
    cancelled.delete(oldest);
    open.delete(oldest);
    return undefined;
  }

  #verdict(
    { name, args }: ReadCall,
    { judge }: Session,
    {
      atMs,
      isContinued,
      sent,
    }: { readonly atMs: number; readonly isContinued: boolean; readonly sent: unknown },
  ): LiveVerdict {
    try {
      const call = policyCall(this.#options, name, args, atMs);
      if (!isContinued) return judge.judge(call);
      // The call itself was already judged, but this new input was not.
      return sent === undefined ? ALLOWED : judge.probe({ ...call, sent });
    } catch (error) {
      this.#options.onProblem(`a call could not be judged: ${(error as Error).message}`);
      return FAILED;
    }
  }

  /**
   * Whether a call continues an earlier one that the server had asked about, with the same
   * arguments.
   */
  #continues({ name, params }: ReadCall, args: string, session: Session): OpenCall | undefined {
    if (!('requestState' in params) && !('inputResponses' in params)) return undefined;
    const at = session.waiting.findIndex(
      (call: OpenCall) =>
        call.tool === name && call.args === args && call.state === params.requestState,
    );
    return at < 0 ? undefined : session.waiting.splice(at, 1)[0];
  }

  /**
   * Logs a refusal that does not depend on the policy. False in shadow mode, which refuses nothing.
   */
  #isRefused(session: Session, flaw: Flaw, tool: string | null): boolean {
    if (!this.#isShadow) session.refused++;
    this.#log.flaw(session, flaw, tool);
    return !this.#isShadow;
  }
}

const ALLOWED: LiveVerdict = { verdict: 'allowed', by: [] };
const TASK: Flaw = {
  rule: 'guard.task',
  code: -32600,
  reason: 'the policy looks at results, and those of tasks cannot be judged',
};

function flawReply(id: unknown, { rule, reason, code }: Flaw): Message {
  return errorReply(id, code, `refused by the guard: ${reason}`, {
    'agentci/decision': { decision: 'deny', rule, reason },
  });
}
