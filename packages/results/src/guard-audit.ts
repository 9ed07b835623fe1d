import type { ExplainedCall } from './policy-report.ts';

/** The audit log of `agentci guard`: JSON lines, each with the hash of the previous line. */
export const AUDIT_SCHEMA = 'agentci.guard-audit/1';

/** The hash before the first line. */
export const NO_HASH = '0'.repeat(64);

interface AuditBase {
  ts: string;
  /** From 1, without gaps. */
  seq: number;
  /** SHA-256 of the previous line without its newline, in lower-case hexadecimal. */
  prev: string;
  /** The history that a call is judged on: one per process, or per client over HTTP. */
  session: string;
}

/** Start of a history: a guard started, or a new client connected. */
export interface AuditStart extends AuditBase {
  event: 'start';
  schema: typeof AUDIT_SCHEMA;
  /** As given on the command line. */
  policy: string;
  /** Hash of all texts of the policy. */
  policy_sha256: string;
  mode: 'enforce' | 'shadow';
  strict: boolean;
  server: string;
}

/** One decision about one call. */
export interface AuditDecision extends AuditBase {
  event: 'decision';
  server: string;
  /** As written by the client. Null if there was none. */
  tool: string | null;
  /** Redacted. Absent with `--audit-args hash`, and if they were unreadable. */
  args?: unknown;
  args_sha256?: string;
  /** Redacted input for a request of the server, if this call continues an earlier one. */
  sent?: unknown;
  /** `args` were redacted, so rules about them cannot be judged from here. */
  redacted?: true;
  decision: 'allow' | 'deny' | 'would_deny';
  verdict: ExplainedCall['verdict'];
  /** The deciding rule. Null if nothing objected. */
  rule: string | null;
  reason: string | null;
  policy_line: number | null;
  /** All objecting rules, if there were several. */
  rules?: string[];
  /** Continues an earlier call after the server asked the user, and is not a separate call. */
  continues?: true;
  /** Time and caller, if the policy has conditions that may read them. */
  at_ms?: number;
  agent?: string;
  /** Microseconds. */
  us: number;
}

/** The result of a call, if the policy looks at results. */
export interface AuditResult extends AuditBase {
  event: 'result';
  /** The number of the call among forwarded calls, from 0. */
  call: number;
  tool: string;
  /** Redacted. Absent with `--audit-args hash`. */
  result?: unknown;
  error?: string | null;
  /** Redacted content besides the result or error. */
  said?: unknown[];
  /** Redacted alternative forms of the result. Expressions are evaluated on each. */
  forms?: unknown[];
  latency_ms: number;
  redacted?: true;
  decision: AuditDecision['decision'];
  verdict: AuditDecision['verdict'];
  rule: string | null;
  reason: string | null;
  policy_line: number | null;
}

/** Tool definitions of a server, if the policy looks at them. */
export interface AuditTools extends AuditBase {
  event: 'tools';
  tools: { name: string; description?: string; schema?: unknown; more?: Record<string, unknown> }[];
}

/** End of a history. */
export interface AuditEnd extends AuditBase {
  event: 'end';
  calls: number;
  refused: number;
  /** Number of withheld answers, if any. */
  withheld?: number;
  /**
   * SHA-256 of this line without this field, because no later line holds the hash of the last one.
   */
  sum: string;
  /** Obligations of the policy that never happened. Refusing calls cannot enforce them. */
  left_open: { rule: string; reason: string; policy_line: number | null }[];
}

export type AuditLine = AuditStart | AuditDecision | AuditResult | AuditTools | AuditEnd;

/** Prefix of the guard's own rules, which need no policy. */
export const GUARD_RULE = 'guard.';
