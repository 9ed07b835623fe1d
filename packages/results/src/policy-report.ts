/** `not_exercised`: no rule applied, so nothing was proved either way. */
export type Exercised = 'exercised' | 'not_exercised';

export type PolicyStatus = 'pass' | 'warn' | 'fail' | 'error';

/** A call that a policy forbids, or a rule that did not hold. */
export interface PolicyViolation {
  tool: string;
  /** `percent`, `address.zip`, `items[0]`. `null` if the violation is not about an argument. */
  argument: string | null;
  value: unknown;
  /** `max: 30`, `required`, `before: a -> b`. */
  constraint: string;
  /** The line in the policy, if it was read from text. */
  policy_line: number | null;
  /** The column of the key or rule on that line. */
  policy_column?: number;
  /** The file of that line, if it is not the policy's own. */
  policy_file?: string;
  /** A readable message: `Value exceeds maximum (max: 30)`. */
  message: string;
  /** Code of the v2 form, such as `E_TOOL_DENIED`. */
  code?: string;
  /** Index among the tool calls, from 0. */
  call?: number;
  /** The id of the rule. */
  rule?: string;
  /** The trace of the violation, if a test covers several. */
  trace?: string;
  /** `warn` if the policy says `on_violation: warn`. */
  severity: 'block' | 'warn';
}

export type RuleOutcome = 'held' | 'violated' | 'not_exercised';

/** One obligation of a rule. Each tool in a list `then` is one. */
export interface RuleObligation {
  of: string;
  outcome: RuleOutcome;
  spanned: number[];
  reason: string;
}

/** The outcome of one rule. Every rule has one, even after another was violated. */
export interface RuleRecord {
  rule_id: string;
  type: string;
  outcome: RuleOutcome;
  /** Indices of the deciding calls, from 0. */
  spanned: number[];
  reason: string;
  expected: string;
  actual: string;
  policy_line: number | null;
  policy_column?: number;
  obligations?: RuleObligation[];
  /** The calls that broke it. Empty if a missing call broke it, as with `require`. */
  broken_by?: number[];
  /** Calls with uncaptured fields that the rule needs. */
  unknown?: number[];
  /**
   * With `unknown`: calls are judged separately, so unknown ones do not affect the verdict on
   * others.
   */
  per_call?: true;
  /** The trace of the outcome, if a test covers several. */
  trace?: string;
}

interface PolicyResultBase {
  status: PolicyStatus;
  exercised: Exercised;
  violations: PolicyViolation[];
  /** Why it is undecided, with `status: error`. */
  reason?: string;
  /** Only if a clock was given. Otherwise two evaluations of the same calls are byte-identical. */
  duration_ms?: number;
}

export interface ArgumentsResult extends PolicyResultBase {
  metric: 'args_valid';
  /** Argument violations with `on_violation: log`: evidence without a verdict. */
  logged: PolicyViolation[];
  /** Calls that the policy covers by name or arguments. */
  checked_calls: number;
  /** Called tools that the policy does not know, with call counts. */
  unknown_tools: Record<string, number>;
  /** Covered calls whose arguments could not be judged. `call` counts from 0. */
  undecided?: {
    call: number;
    reason: string;
    policy_line: number | null;
    policy_column?: number;
    policy_file?: string;
  }[];
}

export interface RulesResult extends PolicyResultBase {
  metric: 'sequence_valid';
  rules: RuleRecord[];
}

export interface BlocklistResult extends PolicyResultBase {
  metric: 'tool_blocklist';
  calls_found: number;
  /** Called blocked tools, by first call. */
  tools: string[];
}

export type PolicyResult = ArgumentsResult | RulesResult | BlocklistResult;

/** One call in the timeline of `agentci policy explain`. */
export interface ExplainedCall {
  /** From 1. */
  call: number;
  tool: string;
  arguments?: unknown;
  /** `unknown`: the deciding data was not captured. */
  verdict: 'allowed' | 'warned' | 'blocked' | 'unknown';
  by: ExplainedCause[];
  /** In a guard's audit: its decision, and whether the policy still agrees. Absent if unknown. */
  recorded?: {
    decision: 'allow' | 'deny' | 'would_deny';
    verdict: 'allowed' | 'warned' | 'blocked' | 'unknown';
    reproduced?: boolean;
  };
}

export interface ExplainedCause {
  rule: string;
  reason: string;
  policy_line: number | null;
  policy_column?: number;
  policy_file?: string;
}

export interface ExplainReport {
  schema: 'agentci.policy-explain/1';
  policy: string;
  trace: string;
  complete: boolean;
  calls: ExplainedCall[];
  allowed: number;
  blocked: number;
  warned: number;
  unknown: number;
  /** Why the trace cannot be cleared: some calls were not captured. */
  not_known?: string;
  /** Index of the first blocked call, from 0. */
  first_block_index: number | null;
  /** Rules broken by missing calls, which block no call. */
  at_end: ExplainedCause[];
  rules: RuleRecord[];
  /** In a guard's audit: how many decisions the policy reproduces. */
  audit?: {
    mode: 'enforce' | 'shadow';
    decisions: number;
    reproduced: number;
    /** Decisions without arguments in the audit. */
    not_told: number;
    differs: { call: number; seq: number; recorded: string; now: string }[];
  };
}

/** The outcome of one of a policy's examples. */
export interface ExampleReport {
  name: string;
  line: number;
  expect: 'allow' | 'deny';
  rule?: string;
  got: 'allow' | 'deny' | 'unknown';
  /** `error`: the policy could not decide. */
  status: 'pass' | 'fail' | 'error';
  /** Rules that objected. */
  rules: string[];
  reasons: string[];
}

export interface CoverageReport {
  schema: 'agentci.policy-coverage/1';
  policy: string;
  traces: number;
  /** The policy's own examples, which count as traces. */
  examples: number;
  calls: number;
  tools: { seen: string[]; not_seen: string[] };
  rules: { exercised: string[]; not_exercised: string[] };
  /** `null` if the policy names none. */
  tool_pct: number | null;
  rule_pct: number | null;
  overall_pct: number;
  threshold: number | null;
  meets: boolean;
  /** Denied tools that no trace called, so their denial is unproved. */
  high_risk_gaps: string[];
  /** Called tools that the policy does not mention. */
  unexpected_tools: string[];
}
