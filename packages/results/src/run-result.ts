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
  /** Findings of the checks inside a combinator, in written order. */
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
  /** `null` if not measured, with the reason in `detail.reason`. */
  value: number | null;
  /** Unit of the number, such as `USD`. Fractions have none. */
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

/** The mistakes of models that played users, over the conversations of a run. */
export interface UserAudit {
  /** Audited conversations. */
  conversations: number;
  /** Audited conversations with at least one mistake. */
  faulty: number;
  rate: number | null;
  /** Wilson interval of `rate`. */
  interval: { low: number; high: number; level: number } | null;
  /** Messages by the model. The first message of a conversation is the spec's. */
  messages: number;
  faulty_messages: number;
  /** Conversations without an answer of the judge. */
  undecided: number;
  /** The first mistakes. */
  faults: { id: string; turn: number; by: 'detector' | 'judge'; what: string }[];
  /** Usage of the audit, separate from the judge. */
  judge: { calls: number; cost_usd: number | null };
}

/** The use of a cassette, by one query or by the whole run. */
export interface CassetteUse {
  mode: 'record' | 'replay' | 'auto';
  /** Replayed calls. */
  hits: number;
  /** Calls without a recorded answer. */
  misses: number;
  /** Hits that only `scrub` made possible. */
  scrubbed: number;
  /** Recorded calls that were not made, those to MCP servers among them. */
  unused: number;
  /** Their positions in the cassette, if this is about one repeat. */
  unused_exchanges?: number[];
  /** Replayed replies of a simulated user. Absent if there are none. */
  user_hits?: number;
  /** Replayed and unused calls to MCP servers. Absent if none were recorded. */
  mcp_hits?: number;
  mcp_unused?: number;
  /** Calls that were stored. */
  new?: number;
  /** Calls that reached providers, stored or not. Default: the number of new ones. */
  asked?: number;
  /** Every call was answered from it, and there was at least one. */
  isolated: boolean;
  /** Replayed parts: `llm` for model calls, `mcp` for MCP servers. Everything else was live. */
  planes: string[];
  /** Why calls missed: model, system prompt, tools, user message, earlier turn, parameters, endpoint, repeat. */
  causes?: string[];
  /** Cost of the answers when they were recorded. `null` if unknown. Only for the whole run. */
  recorded_cost_usd?: number | null;
  /** Cost of the agents' live calls, without judges. `null` if unknown. Only for the whole run. */
  spent_usd?: number | null;
}

/** A warning of a trace. */
export interface TraceWarning {
  code: string;
  message: string;
}

/** One repeat of a query. Present if it ran more than once. */
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
  /** The cell of the matrix, if there is one. */
  cell?: Cell;
  query: string;
  description?: string;
  tags: string[];
  status: CheckStatus;
  /** `null` when no final answer was captured. */
  answer: string | null;
  location?: Location;
  error?: QueryError;
  /** Warnings of all repeats' recordings. Absent in results of older versions. */
  warnings?: TraceWarning[];
  /** Present if a cassette was used. */
  cassette?: CassetteUse;
  /** Why the query was not run at all, e.g. after --fail-fast. */
  not_run?: string;
  /** The spec leaves it out, and why. */
  skip?: { reason: string };
  /** The expected-failure note: the reason as written, and the status before it was applied. */
  xfail?: { reason: string; status: CheckStatus };
  baseline?: { version: string; file?: string };
  /** Present for conversations. With repeats, of the shown one. */
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
  /** Why it ended. Absent if the recording does not say. */
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
  /** Failed calls, as indices in `tools`. Absent if there are none. */
  failed_tools?: number[];
  latency_ms: number | null;
  /** The worst check of this turn. `skip` if it has none. */
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
  /** How often all of k repeats pass, over the queries. Present if a query ran more than once. */
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

/** Results of one cell. */
export interface CellSummary {
  cell: Cell;
  total: number;
  /** With or without a warning. */
  passed: number;
  /** Passed with a warning. Absent in results of older versions. */
  warned?: number;
  failed: number;
  errors: number;
  skipped: number;
  /** Decided repeats, and the passed ones among them. Absent in results of older versions. */
  passed_runs?: number;
  decided_runs?: number;
  /** Rate over decided repeats. `null` if there are none. */
  pass_rate: number | null;
  /** 95 % interval of the rate: Wilson's, for as many runs as are worth one query each. */
  interval: { low: number; high: number } | null;
  /** Total over repeats with known cost. `null` if there are none. */
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
  /** Queries among the pairs. Absent in results of older versions. */
  queries?: number;
  /** Pairs that passed in the reference and fail here, and the other way round. */
  lost: number;
  won: number;
  /** The pass rate of the cell minus that of the reference, over the pairs. */
  difference: number | null;
  interval: { low: number; high: number } | null;
  /** McNemar's mid-p. With repeats, from a sign-flip test over the queries. */
  p: number | null;
  verdict: 'better' | 'worse' | 'inconclusive';
  /** Additional queries that would settle a difference of this size. `null` if there was none. */
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
  /**
   * Recordings were judged without running an agent, so costs are from another time. Absent for
   * live runs and in older results.
   */
  recorded?: true;
  /** Wasted cost: duplicate results, and earlier attempts of a shard. Absent if there is none. */
  unused?: UnusedResults;
  /** What judging used, apart from the agent. `cached`: verdicts that needed no call. */
  judge: {
    calls: number;
    cost_usd: number | null;
    cached?: number;
    input_tokens?: number;
    output_tokens?: number;
  };
  /** Usage of simulated users. Absent if there are none. */
  user?: RunResult['judge'] | undefined;
  /** How often simulated users made mistakes. Only with `--audit-user`. */
  user_audit?: UserAudit;
  /** Checks over the whole run, e.g. suite-scoped metrics. */
  checks: CheckResult[];
  /** Metrics over the whole run. Present if a query asks for one. */
  metrics?: Record<string, MetricResult>;
  /** Over all queries. Present if cassettes were used. */
  cassette?: CassetteUse;
  summary: RunSummaryCounts;
  /** Present for a shard (`--shard`). `agentci merge` joins shards. */
  shard?: { index: number; count: number; plan_hash: string; ids: string[] };
  /** The cells of the matrix, if there is one. */
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
