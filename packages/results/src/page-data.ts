import type { RunComparison } from './diff.ts';
import type { CheckStatus, RunResult } from './run-result.ts';

/**
 * The data of the HTML page: the contract between the reporter, `agentci view` and
 * packages/report-ui.
 */
export const PAGE_SCHEMA = 'agentci.page/1';

/** A step of the timeline: formatted, bounded, and never markup. */
export interface PageStep {
  seq: number;
  kind: 'llm' | 'tool' | 'agent' | 'handoff' | 'message' | 'retrieval' | 'guardrail' | 'event';
  title: string;
  /** Nesting depth. */
  depth: number;
  agent?: string;
  status: string;
  error?: string;
  /** Milliseconds since the start of the trace. */
  start_ms?: number;
  duration_ms?: number;
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: number;
  /** The cost was computed from tokens and prices. */
  cost_computed?: true;
  fields: { label: string; text: string }[];
}

export interface PageTrace {
  id: string;
  status: string;
  format: string;
  error?: string;
  duration_ms?: number;
  /** `null` if tool calls were not captured. */
  tools: string[] | null;
  steps: PageStep[];
  /** Number of steps beyond the page's limit. */
  left_out?: number;
  warnings: string[];
}

/** Evidence for a query beyond its verdict. */
export interface PageEvidence {
  traces: PageTrace[];
  /** Index of the trace that belongs to the shown answer and checks. */
  shown: number;
  baseline?: { version: string; tools: string[] | null; answer: string | null };
}

/** A query of one side of a comparison. */
export interface PageBeforeQuery {
  /** The question, if the open run does not have it. */
  query?: string;
  status: CheckStatus;
  answer: string | null;
  /** The deciding reason in one line. Absent if it passed. */
  reason?: string;
  /** Means of the runs, with repeats. */
  cost_usd?: number | null;
  total_tokens?: number | null;
  latency_ms?: number | null;
  /** Present if it ran more than once. Distinguishes a change from noise. */
  runs?: {
    status: CheckStatus;
    cost_usd?: number | null;
    total_tokens?: number | null;
    latency_ms?: number | null;
  }[];
  /** The called tools. `null` if not captured, absent if unknown to the page. */
  tools?: string[] | null;
}

export interface PageBefore {
  run_id: string;
  started_at?: string;
  comparison: RunComparison;
  queries: [id: string, query: PageBeforeQuery][];
  /** `baseline v1`. Absent for a run. */
  name?: string;
  /** The other side, if it is not the open run. */
  after?: { id: string; name: string; queries: [id: string, query: PageBeforeQuery][] };
  /** Caveats of the comparison. */
  notices?: string[];
}

/** A baseline version to compare with. */
export interface PageVersion {
  /** Its prefix distinguishes it from the id of a run. */
  id: string;
  agent: string;
  version: string;
  queries: number;
  /** Time of its newest recording. */
  captured_at?: string;
}

/**
 * The data of one page. A file contains everything; a live page has only the version and fetches
 * the rest.
 */
export interface PageData {
  schema: typeof PAGE_SCHEMA;
  version: string;
  live?: true;
  run?: RunResult;
  before?: PageBefore;
  /** Names of the cases (`caseText`) with evidence on the page, in element order. */
  evidence?: string[];
  /** The command of the run without its query selection. A run over recordings needs them again. */
  command?: string;
  /** Omissions, with reasons. */
  notes: string[];
}

/** A stored run in a list, with the data of its trend. Unknown numbers are `null`. */
export interface PageRun {
  id: string;
  agent: string;
  spec: string;
  /** The branch of the repository, if known. */
  branch?: string;
  started_at: string;
  finished: boolean;
  summary: RunResult['summary'] | null;
  cost_usd: number | null;
  total_tokens: number | null;
  median_latency_ms: number | null;
  /** Only some queries were selected. */
  part?: boolean;
  /** A shard, to be joined by `agentci merge`. */
  shard?: boolean;
}

/** A run as a point of a trend. Unknown numbers are `null`. */
export interface PagePoint {
  run: string;
  at: string;
  commit?: string;
  passed: number;
  decided: number;
  rate: number | null;
  /** Wilson's 95 % interval of the rate. */
  interval: { low: number; high: number } | null;
  /** Mean cost of a query. */
  usd: number | null;
  /** Median latency. */
  ms: number | null;
}

/** History data about the queries of one agent. */
export interface PageTrends {
  agent: string;
  branch?: string;
  /** Other branches to choose from. */
  branches: string[];
  points: PagePoint[];
  /** Lasting changes of cost or latency, in words. */
  drifts: string[];
  /** Number of runs behind the following lists. */
  runs: number;
  flaky: {
    name: string;
    passed: number;
    decided: number;
    interval: { low: number; high: number };
    flips: number;
  }[];
  steady: number;
  too_few: number;
  /** Queries that fail now, with the first bad run and commit, and the last good one. */
  failing: {
    name: string;
    first: { run: string; at: string; commit?: string };
    good?: { run: string; at: string; commit?: string };
    runs: number;
    flips: number;
  }[];
}

/** A response of `agentci view` about one run. With `from`, only the changes since then. */
export interface PageRunUpdate {
  run: RunResult;
  finished: boolean;
  /** The command of the run without its query selection. */
  command?: string;
  /** Journal entries so far. Ask again from here. */
  entries: number;
  /** `run.results` has only the changes. */
  partial: boolean;
}
