/** What the policy evaluators say, in the words of the JSON other programs read. */

/** `not_exercised`: nothing the rules speak of came up, so that nothing was proved either way. */
export type Exercised = 'exercised' | 'not_exercised';

export type PolicyStatus = 'pass' | 'warn' | 'fail' | 'error';

/** One thing a policy forbids and a call did, or one rule that did not hold. */
export interface PolicyViolation {
  tool: string;
  /** `percent`, `address.zip`, `items[0]`; `null` when the violation is not about an argument. */
  argument: string | null;
  value: unknown;
  /** `max: 30`, `required`, `before: a -> b`. */
  constraint: string;
  /** The line of the policy that says so, where the policy came from a text. */
  policy_line: number | null;
  /** The column of the key or rule on that line. */
  policy_column?: number;
  /** Where that line is, when it is not in the policy's own file. */
  policy_file?: string;
  /** For a person: `Value exceeds maximum (max: 30)`. */
  message: string;
  /** Of the v2 form, e.g. `E_TOOL_DENIED`. */
  code?: string;
  /** Index of the call among the tool calls, from 0. */
  call?: number;
  /** The id of the rule. */
  rule?: string;
  /** The trace it was found in, where a test is judged over several. */
  trace?: string;
  /** `warn` where the policy says `on_violation: warn`. */
  severity: 'block' | 'warn';
}

export type RuleOutcome = 'held' | 'violated' | 'not_exercised';

/** One of several things a rule asks for: each tool of a list `then` is one. */
export interface RuleObligation {
  of: string;
  outcome: RuleOutcome;
  spanned: number[];
  reason: string;
}

/** What became of one rule. Every rule has one, also after another was violated. */
export interface RuleRecord {
  rule_id: string;
  type: string;
  outcome: RuleOutcome;
  /** Indices of the calls that were looked at and decided it, from 0. */
  spanned: number[];
  reason: string;
  expected: string;
  actual: string;
  policy_line: number | null;
  policy_column?: number;
  obligations?: RuleObligation[];
  /** The calls that broke it. Empty when what is missing broke it, as with `require`. */
  broken_by?: number[];
  /** Calls of which something was not captured that the rule asks for. */
  unknown?: number[];
  /** With `unknown`: each call is judged by itself, so what is not known of some does not change the verdict on others. */
  per_call?: true;
  /** The trace it is about, where a test is judged over several. */
  trace?: string;
}

interface PolicyResultBase {
  status: PolicyStatus;
  exercised: Exercised;
  violations: PolicyViolation[];
  /** Why it could not be decided, with `status: error`. */
  reason?: string;
  /** Only where a clock was given: two evaluations of the same calls are otherwise alike to the byte. */
  duration_ms?: number;
}

export interface ArgumentsResult extends PolicyResultBase {
  metric: 'args_valid';
  /** Violations of arguments that say `on_violation: log`: evidence, no verdict. */
  logged: PolicyViolation[];
  /** Calls whose arguments, or names, the policy speaks of. */
  checked_calls: number;
  /** Tools that were called and that the policy does not know, with the number of calls. */
  unknown_tools: Record<string, number>;
  /** Calls about whose arguments the policy speaks and nothing could be told; `call` counts from 0. */
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
  /** The blocked tools that were called, in the order of their first call. */
  tools: string[];
}

export type PolicyResult = ArgumentsResult | RulesResult | BlocklistResult;

/** One call in the timeline of `agentci policy explain`. */
export interface ExplainedCall {
  /** From 1, as people count. */
  call: number;
  tool: string;
  arguments?: unknown;
  /** `unknown`: what would decide it was not captured. */
  verdict: 'allowed' | 'warned' | 'blocked' | 'unknown';
  by: ExplainedCause[];
  /** In an audit of a guard: what it decided, and whether the policy says the same now; absent where that cannot be told. */
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
  /** Why the trace as a whole cannot be cleared: not all of its calls were captured. */
  not_known?: string;
  /** Index of the first blocked call, from 0. */
  first_block_index: number | null;
  /** Rules broken by what never happened; they block no call. */
  at_end: ExplainedCause[];
  rules: RuleRecord[];
  /** Of an audit of a guard: how many of its decisions the policy gives again. */
  audit?: {
    mode: 'enforce' | 'shadow';
    decisions: number;
    reproduced: number;
    /** Their arguments are not in the audit. */
    not_told: number;
    differs: { call: number; seq: number; recorded: string; now: string }[];
  };
}

/** What became of one of a policy's own examples. */
export interface ExampleReport {
  name: string;
  line: number;
  expect: 'allow' | 'deny';
  rule?: string;
  got: 'allow' | 'deny' | 'unknown';
  /** `error`: the policy could not tell. */
  status: 'pass' | 'fail' | 'error';
  /** What spoke against the calls. */
  rules: string[];
  reasons: string[];
}

export interface CoverageReport {
  schema: 'agentci.policy-coverage/1';
  policy: string;
  traces: number;
  /** Examples of the policy itself, which count as traces do. */
  examples: number;
  calls: number;
  tools: { seen: string[]; not_seen: string[] };
  rules: { exercised: string[]; not_exercised: string[] };
  /** `null` when the policy names none. */
  tool_pct: number | null;
  rule_pct: number | null;
  overall_pct: number;
  threshold: number | null;
  meets: boolean;
  /** Denied tools that no trace ever tried: whether they are stopped was not seen. */
  high_risk_gaps: string[];
  /** Tools that were called and that nothing in the policy speaks of. */
  unexpected_tools: string[];
}
