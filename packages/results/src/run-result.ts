import type { Location } from '@agentci/lib/problems';
import type { Cell } from './cell.ts';

/**
 * The JSON contract of a run. Other programs read these field names, so they change only with the
 * schema version.
 */
export const RESULTS_SCHEMA = 'agentci.results/1';

export type CheckStatus = 'pass' | 'warn' | 'fail' | 'skip' | 'error';

/**
 * Why a check gave no verdict. `not_exercised`: the rule's condition never came up. `deferred`: the
 * run is a shard, and the check covers the whole run.
 */
export type SkipReason =
  | 'not_exercised'
  | 'not_measured'
  | 'no_baseline'
  | 'not_run'
  | 'off'
  | 'deferred';

export const LAYERS = ['correctness', 'path', 'cost'] as const;
export type Layer = (typeof LAYERS)[number];

/** A location in a trace: a step number, or the examined text. */
export interface Evidence {
  /** `seq` of the step in the trace. */
  step?: number;
  /** The number of the tool call, from 1. */
  call?: number;
  /** The turn whose answer has the text. */
  turn?: number;
  text?: string;
  /** Number of similar items that are not listed. */
  more?: number;
}

export interface CheckResult {
  /** The check's id: `path.max_tool_calls`. */
  id: string;
  status: CheckStatus;
  message: string;
  value?: unknown;
  limit?: unknown;
  /** The spec's expectation in words, for checks that did not pass. */
  wanted?: string;
  skip_reason?: SkipReason;
  location?: Location;
  evidence: Evidence[];
  /** What the checks inside a combinator found, in the order written. */
  parts?: CheckPart[];
}

/** A check inside a combinator. It has no status: the combinator decides. */
export interface CheckPart {
  /** The way to it in the spec: `correctness.any[0].expected_in_answer`. */
  id: string;
  outcome: 'held' | 'violated' | 'unknown' | 'skipped';
  message: string;
  value?: unknown;
  limit?: unknown;
  location?: Location;
  evidence?: Evidence[];
  parts?: CheckPart[];
}

export interface LayerResult {
  status: CheckStatus;
  messages: string[];
  details: Record<string, unknown>;
  checks: CheckResult[];
}

export interface MetricResult {
  /** `null` where nothing could be measured; `detail.reason` says why. */
  value: number | null;
  /** What the number counts, e.g. `USD`; fractions have none. */
  unit?: string;
  detail: Record<string, unknown>;
}

/** Something about the recording itself that a reader of the verdict should know. */
export interface TraceWarning {
  code: string;
  message: string;
}

/** Why a query could not be judged at all. `infra` ones were retried first and are labelled [INFRA]. */
export interface QueryError {
  kind:
    | 'agent'
    | 'infra'
    | 'trace'
    | 'budget'
    | 'script'
    | 'simulator'
    | 'cassette_miss'
    | 'cassette'
    | 'shard'
    | 'worker'
    | 'worker_lost';
  message: string;
  stderr?: string;
}

/** How a cassette was used, by one query or by the whole run. Nothing else about a replayed run may claim more. */
/** The mistakes of models that played users, over the conversations of a run. */
export interface UserAudit {
  /** Those that were audited. */
  conversations: number;
  /** Those with at least one mistake. */
  faulty: number;
  rate: number | null;
  /** Wilson's, of the rate. */
  interval: { low: number; high: number; level: number } | null;
  /** Messages of the model; the first of a conversation is the spec's. */
  messages: number;
  faulty_messages: number;
  /** Conversations that the judge gave no answer about. */
  undecided: number;
  /** The first of them. */
  faults: { id: string; turn: number; by: 'detector' | 'judge'; what: string }[];
  /** What the audit itself used, apart from the judge of the checks. */
  judge: { calls: number; cost_usd: number | null };
}

export interface CassetteUse {
  mode: 'record' | 'replay' | 'auto';
  /** Calls that were answered from it. */
  hits: number;
  /** Calls that it had no answer for. */
  misses: number;
  /** Hits that only `scrub` made possible. */
  scrubbed: number;
  /** Recorded calls that were not made, those to MCP servers among them. */
  unused: number;
  /** Their places in the cassette; only where one run of one query is told of. */
  unused_exchanges?: number[];
  /** Replies of the user of a conversation that were taken from it; absent where it holds none. */
  user_hits?: number;
  /** Calls to MCP servers that were answered from it, and recorded ones that were not made; absent where none were recorded. */
  mcp_hits?: number;
  mcp_unused?: number;
  /** Calls that were stored. */
  new?: number;
  /** Calls that went to providers, stored or not; as many as are new where it is not said. */
  asked?: number;
  /** Every call was answered from it, and there was at least one. */
  isolated: boolean;
  /** What was frozen: `llm` for calls of models, `mcp` for MCP servers. Everything else ran for real. */
  planes: string[];
  /** Why calls missed: model, system prompt, tools, user message, earlier turn, parameters, endpoint, repeat. */
  causes?: string[];
  /** What the answers cost when they were recorded; `null` where that is not known. Only of the whole run. */
  recorded_cost_usd?: number | null;
  /** What the agents' calls cost this time; `null` where it is not known. Judges are apart. Only of the whole run. */
  spent_usd?: number | null;
}

/** A warning of a trace, by the code of what was found. */
export interface TraceWarning {
  code: string;
  message: string;
}

/** One execution of a query; only present when a query ran more than once. */
export interface RunSummary {
  run: number;
  status: CheckStatus;
  answer?: string | null;
  error?: QueryError;
  cost_usd?: number | null;
  total_tokens?: number | null;
  latency_ms?: number | null;
  messages: string[];
}

/** The numbers of a quantity over the runs of a query that know it. */
export interface Spread {
  n: number;
  mean: number;
  median: number;
  std: number | null;
  min: number;
  max: number;
}

/** What made runs of one query end differently. */
export type FlipSource = 'agent' | 'judge' | 'infra' | 'mixed';

/** What repeats of a query tell beyond its verdict. Error runs count in none of the rates. */
export interface Stability {
  /** `null` when no run was decided. */
  class: 'stable-pass' | 'flaky' | 'stable-fail' | null;
  pass_rate: number | null;
  /** Wilson's 95 % interval of the rate. */
  interval: { low: number; high: number } | null;
  /** For k = 1, 2, … up to the decided runs, at most 10: the chance that one of k passes, and that all do. */
  pass_at_k: number[];
  pass_hat_k: number[];
  flip?: { source: FlipSource; detail: string };
  cost_usd: Spread | null;
  latency_ms: Spread | null;
}

export interface QueryResult {
  id: string;
  /** The combination of the matrix; absent without one. */
  cell?: Cell;
  query: string;
  description?: string;
  tags: string[];
  status: CheckStatus;
  /** `null` when no final answer was captured. */
  answer: string | null;
  location?: Location;
  error?: QueryError;
  /** What is odd about the recording, from every run of the query. Absent in results of older versions. */
  warnings?: TraceWarning[];
  /** Only present where a cassette was in use. */
  cassette?: CassetteUse;
  /** Why the query was not run at all, e.g. after --fail-fast. */
  not_run?: string;
  /** The spec leaves it out, and why. */
  skip?: { reason: string };
  /** The expected-failure note: the reason as written, and the status before it was applied. */
  xfail?: { reason: string; status: CheckStatus };
  baseline?: { version: string; file?: string };
  /** Only present for conversations; of several runs, that of the run shown. */
  conversation?: ConversationResult;
  runs?: RunSummary[];
  pass_rate?: { passed: number; decided: number; min: number };
  /** Only present when a query ran more than once. */
  stability?: Stability;
  correctness: LayerResult;
  path: LayerResult;
  cost: LayerResult;
  metrics: Record<string, MetricResult>;
}

/** A conversation as a reader follows it. */
export interface ConversationResult {
  /** Why it ended; absent where a recording does not say. */
  ending?: string;
  turns: TurnResult[];
  /** Whose fault it is that it could not be judged, or that it went wrong. */
  blame?: 'agent' | 'user';
}

export interface TurnResult {
  turn: number;
  user: string;
  /** `null` when no answer was captured. */
  answer: string | null;
  /** The names of the tools called, in order; `null` when they were not captured. */
  tools: string[] | null;
  /** Which of them failed, by their place in `tools`; absent where none did. */
  failed_tools?: number[];
  latency_ms: number | null;
  /** The worst of the checks on this turn; `skip` where it has none. */
  status: CheckStatus;
  /** Ids of the checks on this turn. */
  checks: string[];
}

export interface RunSummaryCounts {
  total: number;
  /** pass + warn. */
  passed: number;
  failed: number;
  warnings: number;
  errors: number;
  skipped: number;
  xfailed: number;
  exit_code: number;
  /** How often all of k runs of a query pass, over the queries; only present where a query ran more than once. */
  pass_hat_k?: PassHatK[];
}

export interface PassHatK {
  k: number;
  value: number;
  /** The standard error over queries; `null` below two. */
  se: number | null;
  /** Queries with at least k decided runs. */
  tasks: number;
}

/** What the runs of one cell came to. */
export interface CellSummary {
  cell: Cell;
  total: number;
  /** With or without a warning. */
  passed: number;
  /** Of those that passed; absent in results of older versions. */
  warned?: number;
  failed: number;
  errors: number;
  skipped: number;
  /** Decided runs, and those of them that passed; absent in results of older versions. */
  passed_runs?: number;
  decided_runs?: number;
  /** Of the decided runs; `null` where there are none. */
  pass_rate: number | null;
  /** 95 % interval of the rate: Wilson's, for as many runs as are worth one query each. */
  interval: { low: number; high: number } | null;
  /** Of the runs whose cost is known, together; `null` where none is. */
  cost_usd: number | null;
  /** Runs whose cost is not known. */
  unpriced_runs: number;
}

/** One cell against the reference, paired by query. */
export interface CellComparison {
  cell: Cell;
  reference: Cell;
  /** Runs that were decided in both, paired by query and number. */
  pairs: number;
  /** Queries that the pairs belong to; absent in results of older versions. */
  queries?: number;
  /** Pairs that passed in the reference and fail here, and the other way round. */
  lost: number;
  won: number;
  /** The pass rate of the cell minus that of the reference, over the pairs. */
  difference: number | null;
  interval: { low: number; high: number } | null;
  /** McNemar's mid-p; with repeats that of a sign-flip test over the queries. */
  p: number | null;
  verdict: 'better' | 'worse' | 'inconclusive';
  /** So many queries more would settle a difference of this size; `null` where none was seen. */
  more_queries: number | null;
}

export interface UnusedResults {
  results: number;
  /** As far as it is known. */
  cost_usd: number;
}

export interface RunResult {
  schema: typeof RESULTS_SCHEMA;
  agent: string;
  run_id: string;
  spec: { file: string; hash: string };
  /** Recordings were judged and no agent was run: its costs are those of another time. Absent where an agent was run, and in older results. */
  recorded?: true;
  /** Results that were paid for and do not count: second ones of the same run of a query, and earlier attempts of a shard. Absent where there are none. */
  unused?: UnusedResults;
  /** What judging used, apart from the agent. `cached`: verdicts that needed no call. */
  judge: {
    calls: number;
    cost_usd: number | null;
    cached?: number;
    input_tokens?: number;
    output_tokens?: number;
  };
  /** What the models that played users used; absent where none did. */
  user?: RunResult['judge'] | undefined;
  /** How often the models that played users made mistakes; only with `--audit-user`. */
  user_audit?: UserAudit;
  /** Checks over the whole run, e.g. suite-scoped metrics. */
  checks: CheckResult[];
  /** Values of metrics that are measured once over the whole run; only present where a query asks for one. */
  metrics?: Record<string, MetricResult>;
  /** Over all queries; only present where cassettes were in use. */
  cassette?: CassetteUse;
  summary: RunSummaryCounts;
  /** Only present where a part of the queries was run (`--shard`); `agentci merge` joins the parts. */
  shard?: { index: number; count: number; plan_hash: string; ids: string[] };
  /** The cells of the matrix beside each other; absent without one. */
  cells?: CellSummary[];
  /** Each cell against the reference: `baseline_cell`, else the first. */
  cell_comparisons?: CellComparison[];
  results: QueryResult[];
  /** Recordings that belong to no query of the spec. */
  unmatched_recordings?: number;
  /** Notes that decide nothing: unused recordings, baselines without a query, a spec changed since capture. */
  notices: string[];
  /** The two fields below are about the clock and are left out of byte comparisons. */
  started_at?: string;
  duration_ms?: number;
  interrupted?: boolean;
}
