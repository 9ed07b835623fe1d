import type { Location } from '@agentci/lib/problems';
import type { CheckStatus, Layer } from './run-result.ts';

/** The JSON contract of a comparison of two baseline versions. */
export const DIFF_SCHEMA = 'agentci.diff/1';

/** What kind of thing is not the same any more. Each belongs to one layer. */
export type DiffType =
  | 'output_changed'
  | 'tools_changed'
  | 'sequence_changed'
  | 'args_changed'
  | 'routing_changed'
  | 'cost_changed'
  | 'steps_changed'
  | 'latency_changed';

/** A number before and after. `null` is unknown; there is no percentage of an unknown or a zero. */
export interface MetricDelta {
  before: number | null;
  after: number | null;
  change: number | null;
  pct_change: number | null;
  arrow: '▲' | '▼' | '—';
}

/** One piece of two sequences laid side by side. */
export interface Edit {
  op: 'keep' | 'delete' | 'insert';
  text: string;
}

/** One argument of a call that both sides made. A side that did not have it has no key here. */
export interface ArgumentChange {
  tool: string;
  /** Which tool call it is on each side, counted from 1. */
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
  /** From zero any growth is endless in percent: said instead of hidden. */
  reason?: 'zero_baseline';
}

/** Two traces of one query, compared in three layers. */
export interface TraceDiff {
  diff_types: DiffType[];
  /** The layers that have a difference. */
  layers: Layer[];
  /** The query's verdict, and that of each layer; `null` when there is no spec to judge by. */
  verdict: {
    before: CheckStatus | null;
    after: CheckStatus | null;
    layers: Record<Layer, { before: CheckStatus | null; after: CheckStatus | null }>;
  };
  correctness: {
    /** `null` when there is no spec to judge by. */
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
    /** Against the tools the spec expects; unknown where it names none. */
    tool_precision: MetricDelta;
    tool_recall: MetricDelta;
    sequence_lcs: MetricDelta;
    loops: MetricDelta;
    handoffs: MetricDelta;
    /** How alike the two sequences are, from 0 to 1; `null` when a side did not capture its calls. */
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
  /** The spec both sides were judged by; absent when there was none. */
  spec?: { file: string; hash: string };
  max_regression_percent: number | null;
  queries: QueryDiff[];
  /** Ids that only one version has: nothing to compare, and not to be overlooked. */
  only_before: string[];
  only_after: string[];
  /** What it all came to, and the same in a few sentences: as between two runs. */
  verdict: RunVerdict;
  headline: string;
  /** The versions as wholes, told apart from noise; absent below two queries. */
  comparison?: MetricComparison[];
  notices: string[];
  summary: { compared: number; changed: number; regressions: number; exit_code: number };
}

export const COMPARISON_SCHEMA = 'agentci.comparison/1';

/**
 * `worse_within_limit`: worse beyond chance, by no more than is allowed. `inconclusive` is not `no_difference`: the data cannot
 * tell, and `needed_pairs` says what could.
 */
export type ComparisonVerdict =
  | 'better'
  | 'worse'
  | 'worse_within_limit'
  | 'no_difference'
  | 'inconclusive';

export type RegressionSeverity = 'low' | 'medium' | 'high' | 'critical';

/** One metric over all queries that both sides have. */
export interface MetricComparison {
  metric: string;
  better: 'higher' | 'lower';
  /** Of queries; between cells the pass rate pairs the runs of each query. */
  pairs: number;
  /** Queries that the pairs belong to. */
  queries: number;
  before_mean: number;
  after_mean: number;
  pct_change: number | null;
  /** How much worse it got, as a mean and an interval; negative is an improvement. */
  damage: { mean: number; low: number | null; high: number | null };
  /** The most damage that is let pass. */
  max_drop: number;
  test: 'mcnemar' | 'sign_flip';
  p: number;
  /** After Holm's correction for the number of metrics; of the pass rate it is `p`. */
  p_adjusted: number;
  verdict: ComparisonVerdict;
  /** Pairs that would settle it, when the data does not. */
  needed_pairs: number | null;
  severity?: RegressionSeverity;
  /** `near_limit`: worse beyond chance, and whether by more than is allowed is open. */
  reason?: 'zero_baseline' | 'too_few_pairs' | 'identical' | 'near_limit';
}

/** `worse`: something passes no longer, or a new query fails, or a number got worse beyond chance and what is allowed. `nothing_to_compare`: no query is in both. */
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
  /** Queries whose verdict is not what it was. */
  flips: { id: string; before: CheckStatus; after: CheckStatus }[];
  only_before: string[];
  only_after: string[];
  /** Of `only_after`: those that fail or could not be judged. */
  new_failing: string[];
  /** Passed before and could not be judged now. */
  lost_verdicts: string[];
  /** What it all came to; every report says this, none works it out for itself. */
  verdict: RunVerdict;
  /** The same in a few sentences. */
  headline: string;
  /** On both sides, but without a verdict or an expected failure on one: not in the pass rate. */
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
