import type { RunComparison } from './diff.ts';
import type { CheckStatus, RunResult } from './run-result.ts';

/** What the HTML page is given: the contract between the reporter, `agentci view` and packages/report-ui. */
export const PAGE_SCHEMA = 'agentci.page/1';

/** A step as the timeline shows it: ready to print, bounded, and never markup. */
export interface PageStep {
  seq: number;
  kind: 'llm' | 'tool' | 'agent' | 'handoff' | 'message' | 'retrieval' | 'guardrail' | 'event';
  title: string;
  /** How many steps this one is inside of. */
  depth: number;
  agent?: string;
  status: string;
  error?: string;
  /** Milliseconds after the trace began. */
  start_ms?: number;
  duration_ms?: number;
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: number;
  /** The cost was computed from tokens with a price table. */
  cost_computed?: true;
  fields: { label: string; text: string }[];
}

export interface PageTrace {
  id: string;
  status: string;
  format: string;
  error?: string;
  duration_ms?: number;
  /** `null` when tool calls were not captured. */
  tools: string[] | null;
  steps: PageStep[];
  /** Steps beyond the page's limit. */
  left_out?: number;
  warnings: string[];
}

/** What a query's page can show beyond its verdict. */
export interface PageEvidence {
  traces: PageTrace[];
  /** Which of the traces the shown answer and checks belong to. */
  shown: number;
  baseline?: { version: string; tools: string[] | null; answer: string | null };
}

/** A query of one side, as far as a comparison needs it. */
export interface PageBeforeQuery {
  /** What was asked, where the open run does not say it. */
  query?: string;
  status: CheckStatus;
  answer: string | null;
  /** Why it ended so, in one line; absent where it passed. */
  reason?: string;
  /** With repeats, means of the runs. */
  cost_usd?: number | null;
  total_tokens?: number | null;
  latency_ms?: number | null;
  /** Only present when it ran more than once: what tells a change from noise. */
  runs?: {
    status: CheckStatus;
    cost_usd?: number | null;
    total_tokens?: number | null;
    latency_ms?: number | null;
  }[];
  /** The tools called; `null` when they were not captured, absent when the page does not know. */
  tools?: string[] | null;
}

export interface PageBefore {
  run_id: string;
  started_at?: string;
  comparison: RunComparison;
  queries: [id: string, query: PageBeforeQuery][];
  /** `baseline v1`; absent where it is a run. */
  name?: string;
  /** The other side, where it is not the open run. */
  after?: { id: string; name: string; queries: [id: string, query: PageBeforeQuery][] };
  /** What to know before the comparison is believed. */
  notices?: string[];
}

/** A baseline version that a run or another version can be compared with. */
export interface PageVersion {
  /** Told from the id of a run by its beginning. */
  id: string;
  agent: string;
  version: string;
  queries: number;
  /** When its newest recording was saved. */
  captured_at?: string;
}

/** The data of one page. In a file everything is in it; a live page has only the version and asks for the rest. */
export interface PageData {
  schema: typeof PAGE_SCHEMA;
  version: string;
  live?: true;
  run?: RunResult;
  before?: PageBefore;
  /** Names of the cases (`caseText`) whose evidence is on the page, in the order of its elements. */
  evidence?: string[];
  /** The command that ran it, without a choice of queries: a run over recordings needs them again. */
  command?: string;
  /** What was left out, and why. */
  notes: string[];
}

/** A stored run in a list, with what a trend is drawn from. Unknown numbers are `null`. */
export interface PageRun {
  id: string;
  agent: string;
  spec: string;
  /** Of the repository, where it is known. */
  branch?: string;
  started_at: string;
  finished: boolean;
  summary: RunResult['summary'] | null;
  cost_usd: number | null;
  total_tokens: number | null;
  median_latency_ms: number | null;
  /** Only some of the queries were chosen. */
  part?: boolean;
  /** It is a part of a run, which `agentci merge` makes whole. */
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

/** What the history says about the queries of one agent. */
export interface PageTrends {
  agent: string;
  branch?: string;
  /** What else could be chosen. */
  branches: string[];
  points: PagePoint[];
  /** Whether cost or latency changed for good, in words. */
  drifts: string[];
  /** Runs whose queries were looked at for what follows. */
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
  /** Queries that fail now: since which run and commit, and the last that was good. */
  failing: {
    name: string;
    first: { run: string; at: string; commit?: string };
    good?: { run: string; at: string; commit?: string };
    runs: number;
    flips: number;
  }[];
}

/** An answer of `agentci view` about one run; `from` on is what changed since the last one. */
export interface PageRunUpdate {
  run: RunResult;
  finished: boolean;
  /** The command that ran it, without a choice of queries. */
  command?: string;
  /** Journal entries seen so far; ask again from here. */
  entries: number;
  /** `run.results` holds only what changed. */
  partial: boolean;
}
