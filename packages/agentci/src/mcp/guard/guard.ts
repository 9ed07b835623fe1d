import { canonicalJson, sha256Hex } from '../../kit/hash.ts';
import { isObject } from '../../kit/object.ts';
import { visibleName } from '../../kit/visible-text.ts';
import type { PolicyCall } from '../../policy/call.ts';
import { LiveJudge, type LiveVerdict } from '../../policy/live-judge.ts';
import type { Policy } from '../../policy/policy.ts';
import { AUDIT_SCHEMA, type AuditDecision } from '../../results/guard-audit.ts';
import { errorReply, idKey, type Message, messagesIn, requestVersion } from '../message.ts';
import { itemSpans, rootSpan } from '../raw-json.ts';
import type { Audit } from './audit.ts';
import { filterTools } from './filter-tools.ts';
import { type Flaw, type ReadCall, type ReadMessage, readRequest } from './read-request.ts';
import { redact } from './redact.ts';
import { type DenyAs, type RefusalReason, refusalReason, refusalReply } from './refusal.ts';
import { newSession, type OpenCall, type Session } from './session.ts';

export type GuardMode = 'enforce' | 'shadow';

export interface GuardOptions {
  readonly policy: Policy;
  readonly mode: GuardMode;
  readonly strict: boolean;
  readonly denyAs: DenyAs;
  /** The name that clients know the server by; `mcp__NAME__tool` means its tools too. */
  readonly server: string | undefined;
  readonly audit: Audit;
  readonly auditArgs: 'redacted' | 'hash';
  /** Of the policy's texts, for the audit. */
  readonly policyHash?: string;
  /** Told of what went wrong in the guard itself. */
  readonly onProblem: (message: string) => void;
}

/** What of a client's message is passed on to the server, and what is answered in its place. */
export interface ClientOutcome {
  readonly forward: Buffer | undefined;
  readonly replies: readonly Message[];
}

/** How many answers of a server can be outstanding before further calls are refused. */
const MAX_OPEN = 100_000;
const MAX_WAITING = 1000;

/** Decides about every message of a client by the policy. It fails closed: what it cannot decide is refused. */
export class Guard {
  readonly #options: GuardOptions;
  readonly #isShadow: boolean;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#isShadow = options.mode === 'shadow';
  }

  /** Begins a history. */
  open(id: string): Session {
    const { policy, mode, strict, server = '', audit, policyHash = '' } = this.#options;
    audit.add({
      event: 'start',
      schema: AUDIT_SCHEMA,
      session: id,
      policy: policy.file,
      policy_sha256: policyHash,
      mode,
      strict,
      server,
    });
    return newSession(id, new LiveJudge(policy, { strict }));
  }

  /** Ends a history, with what was left undone in it. */
  close(session: Session): readonly RefusalReason[] {
    const left = session.judge.atEnd();
    const { id, calls, refused } = session;
    const left_open = left.map(({ rule, reason, policy_line }) => ({ rule, reason, policy_line }));
    this.#noted(() => this.#options.audit.add({ event: 'end', session: id, calls, refused, left_open }));
    return left;
  }

  /** Takes a message of a client, or a batch of them. In shadow mode every byte is passed on. */
  fromClient(bytes: Buffer, session: Session): ClientOutcome {
    const request = readRequest(bytes);
    switch (request.kind) {
      case 'blank':
        return { forward: bytes, replies: [] };
      case 'flaw':
        return this.#isRefused(session, request.flaw, null)
          ? { forward: undefined, replies: [flawReply(undefined, request.flaw)] }
          : { forward: bytes, replies: [] };
      case 'one': {
        const reply = this.#decide(request.item, session);
        return reply === undefined ? { forward: bytes, replies: [] } : { forward: undefined, replies: reply };
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

  /** A client sent more than can be looked at. */
  tooLong(session: Session): Message | undefined {
    const flaw = { rule: 'guard.too_large', code: -32600, reason: 'the message is too large to be judged' };
    return this.#isRefused(session, flaw, null) ? flawReply(undefined, flaw) : undefined;
  }

  /** A request that is flawed as a whole; gives whether it is refused. */
  refuse(session: Session, flaw: Flaw, tool: string | null): boolean {
    return this.#isRefused(session, flaw, tool);
  }

  /** Takes what a server answered; only lists of tools are ever changed, and only where a tool is hidden. */
  fromServer(bytes: Buffer, session: Session): Buffer {
    const { open, lists, hellos } = session;
    if (open.size + lists.size + hellos.size === 0) return bytes;
    const text = bytes.toString('utf8');
    const messages = messagesIn(text);
    const listed = (messages ?? []).filter((message) => this.#note(message, session)).length;
    if (listed === 0 || this.#isShadow) return bytes;
    const root = rootSpan(text);
    const isHidden = (name: string): boolean => this.#isHidden(name, session);
    if (text[root.start] !== '[') {
      const kept = filterTools(text, isHidden);
      return kept === text ? bytes : Buffer.from(kept);
    }
    const items = itemSpans(text, root).map(({ start, end }) => filterTools(text.slice(start, end), isHidden));
    return Buffer.from(`${text.slice(0, root.start)}[${items.join(',')}]${text.slice(root.end)}`);
  }

  /** Notes what an answer means for the session; true where it is a list of tools. */
  #note(message: Message, session: Session): boolean {
    const key = message.method === undefined ? idKey(message.id) : undefined;
    if (key === undefined) return false;
    const result = isObject(message.result) ? message.result : {};
    if (session.hellos.delete(key) && typeof result.protocolVersion === 'string')
      session.version = result.protocolVersion;
    const call = session.open.get(key);
    if (call !== undefined) {
      session.open.delete(key);
      if (result.resultType === 'input_required' && session.waiting.length < MAX_WAITING) {
        const { requestState: state } = result;
        session.waiting.push({ ...call, ...(typeof state === 'string' ? { state } : {}) });
      }
    }
    return session.lists.delete(key);
  }

  #isHidden(name: string, session: Session): boolean {
    if (visibleName(name) !== name) return true;
    return session.judge.forbids(this.#call(name, {})) !== undefined;
  }

  #call(name: string, args: unknown): PolicyCall {
    const { server } = this.#options;
    return { name, args, ...(server === undefined ? {} : { rawName: `mcp__${server}__${name}` }) };
  }

  /** The answers in place of a message that is refused; undefined for one that is passed on. */
  #decide(item: ReadMessage, session: Session): Message[] | undefined {
    switch (item.kind) {
      case 'flaw':
        return this.#isRefused(session, item.flaw, item.tool) ? [flawReply(item.message, item.flaw)] : undefined;
      case 'other':
        this.#follow(item.message, session);
        return undefined;
      case 'call': {
        const version = requestVersion(item.message) ?? session.version;
        const refusal = this.#judge(item.call, session);
        const { denyAs, policy } = this.#options;
        return refusal === undefined
          ? undefined
          : [refusalReply(item.call.id, refusal, { policy: policy.file, version, denyAs })];
      }
    }
  }

  #follow({ method, id, params }: Message, session: Session): void {
    const key = idKey(id);
    if (method === 'tools/list' && key !== undefined) session.lists.add(key);
    else if (method === 'initialize' && key !== undefined) session.hellos.add(key);
    else if (method === 'notifications/cancelled' && isObject(params)) {
      const cancelled = idKey(params.requestId);
      if (cancelled !== undefined) session.open.delete(cancelled);
    }
  }

  /** Why a call is refused; undefined when it may be made, which it then is. */
  #judge(call: ReadCall, session: Session): RefusalReason | undefined {
    const started = performance.now();
    const key = idKey(call.id)!;
    const opened = session.open.has(key)
      ? { rule: 'guard.duplicate_id', reason: 'a call with this id has no answer yet' }
      : session.open.size >= MAX_OPEN
        ? { rule: 'guard.too_many_open', reason: `${MAX_OPEN} calls have no answer yet` }
        : undefined;
    if (opened !== undefined) {
      const flaw = { ...opened, code: -32600 };
      return this.#isRefused(session, flaw, call.name) ? { ...opened, policy_line: null } : undefined;
    }
    const args = canonicalJson(call.args);
    const isContinued = this.#continues(call, args, session);
    const verdict: LiveVerdict = isContinued ? { verdict: 'allowed', by: [] } : this.#verdict(call, session);
    const isKept = verdict.verdict === 'allowed' || verdict.verdict === 'warned';
    const isRefused = !isKept && !this.#isShadow;
    const { rule, reason, policy_line } = isKept ? NOTHING : refusalReason(verdict);
    const rules = verdict.by.map((cause) => cause.rule);
    const isNoted = this.#noted(() =>
      this.#options.audit.add({
        event: 'decision',
        session: session.id,
        server: this.#options.server ?? '',
        tool: call.name,
        ...this.#auditArgs(call.args),
        decision: isKept ? 'allow' : isRefused ? 'deny' : 'would_deny',
        verdict: verdict.verdict,
        rule: rule ?? rules[0] ?? null,
        reason: reason ?? verdict.by[0]?.reason ?? null,
        policy_line: policy_line ?? verdict.by[0]?.policy_line ?? null,
        ...(rules.length > 1 ? { rules } : {}),
        ...(isContinued ? { continues: true as const } : {}),
        us: Math.round((performance.now() - started) * 1000),
      }),
    );
    const isStopped = isRefused || (!isNoted && !this.#isShadow);
    if (isStopped && !isContinued && verdict !== FAILED) session.judge.takeBack();
    if (isStopped) {
      session.refused++;
      return isRefused ? refusalReason(verdict) : NOT_NOTED;
    }
    if (!isContinued) session.calls++;
    session.open.set(key, { tool: call.name, args });
    return undefined;
  }

  #verdict(call: ReadCall, session: Session): LiveVerdict {
    try {
      return session.judge.judge(this.#call(call.name, call.args));
    } catch (error) {
      this.#options.onProblem(`a call could not be judged: ${(error as Error).message}`);
      return FAILED;
    }
  }

  /** Whether a call is the rest of an earlier one that the server had asked about, with the same arguments. */
  #continues({ name, params }: ReadCall, args: string, session: Session): boolean {
    if (!('requestState' in params) && !('inputResponses' in params)) return false;
    const at = session.waiting.findIndex(
      (call: OpenCall) => call.tool === name && call.args === args && call.state === params.requestState,
    );
    if (at < 0) return false;
    session.waiting.splice(at, 1);
    return true;
  }

  #auditArgs(args: unknown): Pick<AuditDecision, 'args' | 'args_sha256' | 'redacted'> {
    if (this.#options.auditArgs === 'hash') return { args_sha256: sha256Hex(canonicalJson(args)) };
    const { value, isRedacted } = redact(args);
    return { args: value, ...(isRedacted ? { redacted: true as const } : {}) };
  }

  /** Notes a refusal that needs no policy; false in shadow mode, where nothing is refused. */
  #isRefused(session: Session, flaw: Flaw, tool: string | null): boolean {
    if (!this.#isShadow) session.refused++;
    this.#noted(() =>
      this.#options.audit.add({
        event: 'decision',
        session: session.id,
        server: this.#options.server ?? '',
        tool,
        decision: this.#isShadow ? 'would_deny' : 'deny',
        verdict: 'blocked',
        rule: flaw.rule,
        reason: flaw.reason,
        policy_line: null,
        us: 0,
      }),
    );
    return !this.#isShadow;
  }

  #noted(add: () => void): boolean {
    try {
      add();
      return true;
    } catch (error) {
      this.#options.onProblem(`the audit could not be written: ${(error as Error).message}`);
      return false;
    }
  }
}

const NOTHING = { rule: undefined, reason: undefined, policy_line: undefined };
const NOT_NOTED: RefusalReason = {
  rule: 'guard.audit',
  reason: 'the decision could not be written to the audit log',
  policy_line: null,
};
const FAILED: LiveVerdict = {
  verdict: 'unknown',
  by: [{ rule: 'guard.error', reason: 'could not tell: the policy could not be evaluated', policy_line: null }],
};

function flawReply(message: Message | undefined, { rule, reason, code }: Flaw): Message {
  return errorReply(message?.id, code, `refused by the guard: ${reason}`, {
    'agentci/decision': { decision: 'deny', rule, reason },
  });
}
