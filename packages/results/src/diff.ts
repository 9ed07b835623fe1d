import type { Location } from '@agentci/lib/problems';
import type { CheckStatus, Layer } from './run-result.ts';

/** The JSON contract of a comparison of two baseline versions. */
export const DIFF_SCHEMA = 'agentci.diff/1';

/** Kinds of difference. Each belongs to one layer. */
export type DiffType =
  | 'output_changed'
  | 'tools_changed'
  | 'sequence_changed'
  | 'args_changed'
  | 'routing_changed'
  | 'cost_changed'
  | 'steps_changed'
  | 'latency_changed';

/** A number before and after. `null` is unknown. There is no percentage of an unknown or a zero. */
export interface MetricDelta {
  before: number | null;
  after: number | null;
  change: number | null;
  pct_change: number | null;
  arrow: '▲' | '▼' | '—';
}

/** One edit between two sequences. */
export interface Edit {
  op: 'keep' | 'delete' | 'insert';
  text: string;
}

/** One argument of a call that both sides made. The key is absent on a side without it. */
export interface ArgumentChange {
  tool: string;
  /** The number of the tool call on each side, from 1. */
  before_call: number;
  after_call: number;
  path: string;
  before?: unknown;
  after?: unknown;
}

export interface Regression {
  layer: Layer;
  metric: string;
  message: string;
  pct_change: number | null;
  limit_percent?: number;
  /** Any growth from zero is infinite in percent. */
  reason?: 'zero_baseline';
}

/** Two traces of one query, compared in three layers. */
export interface TraceDiff {
  diff_types: DiffType[];
  layers: Layer[];
  /** Verdicts of the query and of each layer. `null` without a spec. */
  verdict: {
    before: CheckStatus | null;
    after: CheckStatus | null;
    layers: Record<Layer, { before: CheckStatus | null; after: CheckStatus | null }>;
  };
  correctness: {
    /** `null` without a spec. */
    before: CheckStatus | null;
    after: CheckStatus | null;
    changed: boolean;
    checks: {
      id: string;
      before: CheckStatus | null;
      after: CheckStatus | null;
      message: string;
    }[];
    answer: { changed: boolean; edits: Edit[]; shortened?: true };
  };
  path: {
    tool_calls: MetricDelta;
    /** Relative to the expected tools. Unknown if the spec names none. */
    tool_precision: MetricDelta;
    tool_recall: MetricDelta;
    sequence_lcs: MetricDelta;
    loops: MetricDelta;
    handoffs: MetricDelta;
    /** Similarity of both sequences, 0 to 1. `null` if a side did not capture its calls. */
    similarity: number | null;
    tools: Edit[];
    arguments: ArgumentChange[];
    routes: Edit[];
  };
  cost: {
    cost_usd: MetricDelta;
    total_tokens: MetricDelta;
    llm_calls: MetricDelta;
    latency_ms: MetricDelta;
  };
  regressions: Regression[];
  has_regression: boolean;
}

export interface QueryDiff extends TraceDiff {
  id: string;
  query: string;
  location?: Location;
}

export interface DiffReport {
  schema: typeof DIFF_SCHEMA;
  agent: string;
  from_version: string;
  to_version: string;
  /** The spec that judged both sides, if there was one. */
  spec?: { file: string; hash: string };
  max_regression_percent: number | null;
  queries: QueryDiff[];
  /** Ids that only one version has. They cannot be compared and must not be overlooked. */
  only_before: string[];
  only_after: string[];
  /** The overall verdict, and a short text, as for two runs. */
  verdict: RunVerdict;
  headline: string;
  /** Comparison of the whole versions with uncertainty. Absent below two queries. */
  comparison?: MetricComparison[];
  notices: string[];
  summary: { compared: number; changed: number; regressions: number; exit_code: number };
}

export const COMPARISON_SCHEMA = 'agentci.comparison/1';

/**
 * `worse_within_limit`: significantly worse, but within the limit. `inconclusive` is not
 * `no_difference`: the data cannot decide, and `needed_pairs` says how much could.
 */
export type ComparisonVerdict =
  | 'better'
  | 'worse'
  | 'worse_within_limit'
  | 'no_difference'
  | 'inconclusive';

export type RegressionSeverity = 'low' | 'medium' | 'high' | 'critical';

/** One metric over all queries on both sides. */
export interface MetricComparison {
  metric: string;
  better: 'higher' | 'lower';
  /** Pairs of queries. Between cells, the pass rate pairs the runs of each query. */
  pairs: number;
  /** Queries among the pairs. */
  queries: number;
  before_mean: number;
  after_mean: number;
  pct_change: number | null;
  /** Mean and interval of the loss. Negative is an improvement. */
  damage: { mean: number; low: number | null; high: number | null };
  /** The largest allowed loss. */
  max_drop: number;
  test: 'mcnemar' | 'sign_flip';
  p: number;
  /** After Holm's correction for the number of metrics. For the pass rate it equals `p`. */
  p_adjusted: number;
  verdict: ComparisonVerdict;
  /** Pairs that would settle it, if the data does not. */
  needed_pairs: number | null;
  severity?: RegressionSeverity;
  /** `near_limit`: significantly worse, but unclear whether by more than the limit. */
  reason?: 'zero_baseline' | 'too_few_pairs' | 'identical' | 'near_limit';
}

/**
 * `worse`: a query no longer passes, a new query fails, or a metric got significantly worse than
 * allowed. `nothing_to_compare`: no query is on both sides.
 */
export type RunVerdict =
  | 'nothing_to_compare'
  | 'worse'
  | 'better'
  | 'worse_within_limit'
  | 'inconclusive'
  | 'no_difference';

/** Two runs compared query by query. */
export interface RunComparison {
  schema: typeof COMPARISON_SCHEMA;
  agent: string;
  before: string;
  after: string;
  metrics: MetricComparison[];
  /** Queries with a different verdict. */
  flips: { id: string; before: CheckStatus; after: CheckStatus }[];
  only_before: string[];
  only_after: string[];
  /** Queries of `only_after` that fail or could not be judged. */
  new_failing: string[];
  /** Queries that passed before and could not be judged now. */
  lost_verdicts: string[];
  /** The overall verdict, computed once for every report. */
  verdict: RunVerdict;
  /** A short text for the verdict. */
  headline: string;
  /**
   * Queries on both sides without a verdict, or with an expected failure, on one. Not in the pass
   * rate.
   */
  undecided: string[];
  summary: {
    pairs: number;
    better: number;
    worse: number;
    inconclusive: number;
    /** Queries that passed before and fail now. */
    regressions: number;
    exit_code: number;
  };
}
