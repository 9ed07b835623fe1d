import { canonicalJson, sha256Hex } from '@agentci/lib/data';
import { redact, redactText } from '@agentci/lib/secrets';
import type { CallOutcome, ListedTool, LiveVerdict } from '@agentci/policy';
import { AUDIT_SCHEMA, type AuditDecision } from '@agentci/results';
import type { AuditEntry } from './audit.ts';
import type { GuardOptions } from './guard-options.ts';
import type { Flaw } from './read-request.ts';
import { type RefusalReason, refusalReason } from './refusal.ts';
import type { OpenCall, Session } from './session.ts';

/** Logs the decisions of the guard. Each method returns whether it succeeded. */
export class GuardLog {
  readonly #options: GuardOptions;
  readonly #denial: 'deny' | 'would_deny';

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#denial = options.mode === 'shadow' ? 'would_deny' : 'deny';
  }

  /** Throws if the log cannot be written, because a guard does not start without it. */
  start(session: string): void {
    const { policy, mode, strict, server = '', audit, policyHash = '' } = this.#options;
    audit.add({
      event: 'start',
      schema: AUDIT_SCHEMA,
      session,
      policy: policy.file,
      policy_sha256: policyHash,
      mode,
      strict,
      server,
    });
  }

  end({ id, calls, refused, withheld }: Session, left: readonly RefusalReason[]): boolean {
    const left_open = left.map(({ rule, reason, policy_line }) => ({ rule, reason, policy_line }));
    const counts = { calls, refused, withheld: withheld !== 0 ? withheld : undefined };
    return this.#add({ event: 'end', session: id, ...counts, left_open });
  }

  tools(session: Session, tools: readonly ListedTool[]): boolean {
    return this.#add({ event: 'tools', session: session.id, tools: redact([...tools]).value });
  }

  /** Logs a refusal that does not depend on the policy. */
  flaw(session: Session, { rule, reason }: Flaw, tool: string | null): boolean {
    return this.#add({
      event: 'decision',
      session: session.id,
      server: this.#options.server ?? '',
      tool,
      decision: this.#denial,
      verdict: 'blocked',
      rule,
      reason,
      policy_line: null,
      us: 0,
    });
  }

  decision(
    session: Session,
    call: { readonly name: string; readonly args: unknown; readonly sent?: unknown },
    verdict: LiveVerdict,
    {
      isContinued,
      atMs,
      us,
    }: { readonly isContinued: boolean; readonly atMs: number; readonly us: number },
  ): boolean {
    const isKept = isKeptBy(verdict);
    const told = isKept ? undefined : refusalReason(verdict);
    const rules = verdict.by.map((cause) => cause.rule);
    const { agent, server = '' } = this.#options;
    return this.#add({
      event: 'decision',
      session: session.id,
      server,
      tool: call.name,
      ...this.#given(call),
      decision: isKept ? 'allow' : this.#denial,
      verdict: verdict.verdict,
      rule: told?.rule ?? rules[0] ?? null,
      reason: redactText(told?.reason ?? verdict.by[0]?.reason ?? null),
      policy_line: told?.policy_line ?? verdict.by[0]?.policy_line ?? null,
      rules: rules.length > 1 ? rules : undefined,
      continues: isContinued ? (true as const) : undefined,
      at_ms: session.judge.hasConditions ? atMs : undefined,
      agent: session.judge.hasConditions ? agent : undefined,
      us,
    });
  }

  result(session: Session, call: OpenCall, outcome: CallOutcome, verdict: LiveVerdict): boolean {
    const { result, error, said, forms, latency_ms = 0 } = outcome;
    const { value, isRedacted } = redact({ result, error, said, forms });
    const told = isKeptBy(verdict) ? undefined : refusalReason(verdict);
    const isHashed = this.#options.auditArgs === 'hash';
    return this.#add({
      event: 'result',
      session: session.id,
      call: call.at,
      tool: call.tool,
      result: isHashed || value.result === undefined ? undefined : value.result,
      error: isHashed ? undefined : ((value.error ?? null) as string | null),
      said: isHashed || value.said === undefined ? undefined : [...value.said],
      forms: isHashed || value.forms === undefined ? undefined : [...value.forms],
      latency_ms,
      redacted: isRedacted ? (true as const) : undefined,
      decision: told === undefined ? 'allow' : this.#denial,
      verdict: verdict.verdict,
      rule: told?.rule ?? null,
      reason: redactText(told?.reason ?? null),
      policy_line: told?.policy_line ?? null,
    });
  }

  #given({
    args,
    sent,
  }: {
    readonly args: unknown;
    readonly sent?: unknown;
  }): Pick<AuditDecision, 'args' | 'args_sha256' | 'sent' | 'redacted'> {
    if (this.#options.auditArgs === 'hash') return { args_sha256: sha256Hex(canonicalJson(args)) };
    const { value, isRedacted } = redact({ args, sent });
    return {
      args: value.args,
      sent: value.sent,
      redacted: isRedacted ? (true as const) : undefined,
    };
  }

  #add(entry: AuditEntry): boolean {
    try {
      this.#options.audit.add(entry);
      return true;
    } catch (error) {
      this.#options.onProblem(`the audit could not be written: ${(error as Error).message}`);
      return false;
    }
  }
}

/** Whether a verdict allows a call or its result. */
export const isKeptBy = ({ verdict }: LiveVerdict): boolean =>
  verdict === 'allowed' || verdict === 'warned';
