import type { ExplainedCall } from './policy-report.ts';

/** The audit log of `agentci guard`: JSON lines, each with the hash of the line before it. */
export const AUDIT_SCHEMA = 'agentci.guard-audit/1';

/** The hash before the first line. */
export const NO_HASH = '0'.repeat(64);

interface AuditBase {
  ts: string;
  /** From 1, without gaps. */
  seq: number;
  /** SHA-256 of the line before, without its newline, in lower-case hexadecimal. */
  prev: string;
  /** Which history a call is judged on: one for each process, or for each client over HTTP. */
  session: string;
}

/** A history begins: a guard was started, or a client came that was not known. */
export interface AuditStart extends AuditBase {
  event: 'start';
  schema: typeof AUDIT_SCHEMA;
  /** As given on the command line. */
  policy: string;
  /** Of all texts the policy was read from. */
  policy_sha256: string;
  mode: 'enforce' | 'shadow';
  strict: boolean;
  server: string;
}

/** One decision about one call. */
export interface AuditDecision extends AuditBase {
  event: 'decision';
  server: string;
  /** As the client wrote it; null where it had none. */
  tool: string | null;
  /** Redacted. Absent with `--audit-args hash`, and where they could not be read. */
  args?: unknown;
  args_sha256?: string;
  /** What was handed in when the server asked, redacted; of a call that continues an earlier one. */
  sent?: unknown;
  /** Secrets were taken out of `args`: what a rule would say of them cannot be told from here. */
  redacted?: true;
  decision: 'allow' | 'deny' | 'would_deny';
  verdict: ExplainedCall['verdict'];
  /** What decided it; null for a call that nothing speaks against. */
  rule: string | null;
  reason: string | null;
  policy_line: number | null;
  /** All that spoke against it, where it was more than one. */
  rules?: string[];
  /** It continues an earlier call, which the server had asked the user about, and is not one of its own. */
  continues?: true;
  /** When it was made, and by whom: where the policy has conditions, which may ask for it. */
  at_ms?: number;
  agent?: string;
  /** Microseconds. */
  us: number;
}

/** What a call gave back, where the policy looks at results. */
export interface AuditResult extends AuditBase {
  event: 'result';
  /** The call, from 0, among those that were passed on. */
  call: number;
  tool: string;
  /** Redacted. Absent with `--audit-args hash`. */
  result?: unknown;
  error?: string | null;
  /** What came back beside the result or the error, redacted. */
  said?: unknown[];
  /** Other forms that the result came in, redacted: expressions are evaluated on each. */
  forms?: unknown[];
  latency_ms: number;
  redacted?: true;
  decision: AuditDecision['decision'];
  verdict: AuditDecision['verdict'];
  rule: string | null;
  reason: string | null;
  policy_line: number | null;
}

/** The definitions of tools a server gave, where the policy looks at them. */
export interface AuditTools extends AuditBase {
  event: 'tools';
  tools: { name: string; description?: string; schema?: unknown; more?: Record<string, unknown> }[];
}

/** A history ends. */
export interface AuditEnd extends AuditBase {
  event: 'end';
  calls: number;
  refused: number;
  /** Answers that were not handed on, where there were any. */
  withheld?: number;
  /** SHA-256 of this line without this field: of the last line no other has the hash. */
  sum: string;
  /** What the policy wanted and did not happen. Refusing calls cannot bring it about. */
  left_open: { rule: string; reason: string; policy_line: number | null }[];
}

export type AuditLine = AuditStart | AuditDecision | AuditResult | AuditTools | AuditEnd;

/** Rules of the guard itself, for what no policy needs to be asked about. */
export const GUARD_RULE = 'guard.';
