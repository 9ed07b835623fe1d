import type { CheckStatus } from './run-result.ts';

/** What the page of `agentci view --label` is told: the contract between its server and packages/report-ui. */
export interface LabelGiven {
  label: 'pass' | 'fail';
  /** 1 to 5. */
  score?: number;
  note?: string;
}

export interface LabelVerdict {
  model: string;
  score: number;
  label: string;
  rationale: string;
}

/** One answer to label. What others think of it is there only when the rater has said what they think. */
export interface LabelItem {
  id: string;
  /** Of the query. */
  name: string;
  query: string;
  answer: string;
  /** What the answer must meet; without it, the query has no rubric. */
  rule?: string;
  scale?: readonly string[];
  /** A score from here on is a pass. */
  min_score: number;
  context?: readonly string[];
  /** Why there is no context where the judge has some. */
  context_missing?: string;
  mine?: LabelGiven;
  after?: {
    judge: { status: CheckStatus | null; verdicts: LabelVerdict[] };
    others: (LabelGiven & { rater: string })[];
  };
}

export interface LabelPair {
  a: string;
  b: string;
  n: number;
  agreed: number;
  agreed_interval: { low: number; high: number } | null;
  kappa: number | null;
  kappa_interval: { low: number; high: number } | null;
}

/** How far the work is, and what comes next. */
export interface LabelState {
  rater: string;
  agent: string;
  run: string;
  /** The file labels go to, from the folder of the spec. */
  file: string;
  total: number;
  labelled: number;
  /** The next ones without a label of this rater, the judge's least certain first. */
  queue: string[];
  /** Answers that this rater and another see differently. */
  disputed: string[];
  /** Of labels as they were before the judge and others were shown. */
  pairs: LabelPair[];
  /** Labels that were changed after that. */
  revised: number;
  /** Answers the judge has a verdict on. */
  judged: number;
  /** Lines of label files that could not be read. */
  unreadable: number;
}

/** What the page sends; `null` takes a label back. */
export interface LabelRequest {
  id: string;
  label: 'pass' | 'fail' | null;
  score?: number;
  note?: string;
}

export interface LabelSaved {
  item: LabelItem;
  state: LabelState;
}
