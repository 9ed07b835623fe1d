import type { CheckStatus } from './run-result.ts';

/**
 * The data of the `agentci view --label` page: the contract between its server and
 * packages/report-ui.
 */
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

/** One answer to label. Other opinions are included only after the rater has labelled it. */
export interface LabelItem {
  id: string;
  /** The name of the query. */
  name: string;
  query: string;
  answer: string;
  /** The criterion for the answer. Absent if the query has no rubric. */
  rule?: string;
  scale?: readonly string[];
  /** The lowest passing score. */
  min_score: number;
  context?: readonly string[];
  /** Why the context that the judge has is missing here. */
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

/** Progress, and the next answers. */
export interface LabelState {
  rater: string;
  agent: string;
  run: string;
  /** The label file, relative to the spec's folder. */
  file: string;
  total: number;
  labelled: number;
  /** Answers without a label of this rater, the judge's least certain first. */
  queue: string[];
  /** Answers on which this rater disagrees with another. */
  disputed: string[];
  /** Agreement on labels given before other opinions were shown. */
  pairs: LabelPair[];
  /** Labels changed after other opinions were shown. */
  revised: number;
  /** Answers with a verdict of the judge. */
  judged: number;
  /** Unreadable lines of label files. */
  unreadable: number;
}

/** A request of the page. `null` withdraws a label. */
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
