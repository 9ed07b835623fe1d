/** The JSON contract of an experiment: conditions compared over trials. */
export const EXPERIMENT_SCHEMA = 'agentci.experiment/1';
export const AGREEMENT_SCHEMA = 'agentci.agreement/1';

/** What can be measured in a trial. `null` is not measured. */
export const TRIAL_METRICS = [
  'dq',
  't2u_s',
  'validity',
  'specificity',
  'correctness',
  'cost_usd',
  'total_tokens',
] as const;
export type TrialMetric = (typeof TRIAL_METRICS)[number];

/** One trial of one condition. */
export interface Trial {
  condition: string;
  trial: string | number;
  validity: number | null;
  specificity: number | null;
  correctness: number | null;
  dq: number | null;
  /** Time to usable understanding in seconds. */
  t2u_s: number | null;
  cost_usd?: number | null;
  total_tokens?: number | null;
  actions?: readonly string[];
  /** The trial gave nothing to measure; it is counted and left out of every mean. */
  error?: string;
}

export interface IntervalJson {
  low: number;
  high: number;
}

/** The usual numbers of one metric in one condition. */
export interface MetricSummary {
  n: number;
  mean: number;
  /** `null` of one value. */
  sd: number | null;
  ci95: IntervalJson | null;
  median: number;
  min: number;
  max: number;
  /** All values are the same: there is no spread to test with. */
  zero_variance: boolean;
}

export interface ConditionSummary {
  condition: string;
  /** Trials that gave something to measure. */
  n: number;
  failed: number;
  metrics: Partial<Record<TrialMetric, MetricSummary>>;
  /** Share of the scored trials in each band of decision quality; `null` when none was scored. */
  categories: { excellent: number; good: number; mediocre: number; poor: number } | null;
  actionable: { count: number; share: number } | null;
  mean_actions: number | null;
}

/** Two conditions in one metric. Every sign is that of b minus a. */
export interface ConditionComparison {
  metric: TrialMetric;
  a: string;
  b: string;
  difference: number;
  difference_ci95: IntervalJson | null;
  /** (b − a) / a in percent; `null` from zero. */
  relative_improvement_pct: number | null;
  /** Which of the two is better in this metric, judged by the means alone. */
  better: string | null;
  welch: { t: number | null; df: number | null; p: number | null; p_holm: number | null };
  mann_whitney: { u: number | null; p: number | null; p_holm: number | null };
  cohens_d: number | null;
  hedges_g: number | null;
  cliffs_delta: number | null;
  /** Trials per condition that would show the observed difference with power 0.8 at level 0.05. */
  trials_needed: number | null;
  /** Why there is no p-value. */
  note?: string;
}

export interface AnovaResult {
  metric: TrialMetric;
  f: number | null;
  df: [number, number] | null;
  p: number | null;
  eta_squared: number | null;
  /** Conditions without any spread, which the test's assumption of equal spread does not fit. */
  zero_variance: string[];
}

export interface ConditionsReport {
  conditions: ConditionSummary[];
  comparisons: ConditionComparison[];
  anova: AnovaResult[];
  notices: string[];
}

export interface WeightPoint {
  weights: { validity: number; specificity: number; correctness: number };
  means: Record<string, number>;
  /** Best first; conditions that tie are in one list. */
  ranking: string[][];
  /** Against the ranking by the reference weights. */
  order: 'same' | 'tied' | 'different';
}

/** What happens to the order of the conditions when the weights are others. */
/** What makes one condition better than another: the part of each component in the difference of their means. */
export interface ComponentDrivers {
  a: string;
  b: string;
  /** b − a, with the reference weights. */
  difference: number;
  /** `share` is of the difference, null where there is none; below 0 for a component that worked against it. */
  components: Record<
    'validity' | 'specificity' | 'correctness',
    { points: number; share: number | null }
  >;
}

export interface WeightSensitivity {
  step: number;
  reference: WeightPoint;
  points: WeightPoint[];
  /** Shares of the grid. */
  rank_stability: { same: number; tied: number; different: number };
  /** How often each condition alone is best. */
  wins: Record<string, number>;
  drivers: ComponentDrivers[];
}

export interface ExperimentResult extends ConditionsReport {
  schema: typeof EXPERIMENT_SCHEMA;
  experiment: string;
  file: string;
  hash: string;
  seed: number;
  profile: string;
  weights: { validity: number; specificity: number; correctness: number };
  sources: {
    condition: string;
    kind: 'runner' | 'traces' | 'data' | 'simulate';
    description?: string;
  }[];
  sensitivity: WeightSensitivity | null;
  trials: Trial[];
  excluded: { condition: string; trial: string | number }[];
  interrupted?: true;
}

export interface AgreementAlpha {
  level: 'nominal' | 'ordinal' | 'interval';
  alpha: number | null;
  ci95: IntervalJson | null;
}

export interface AgreementResult {
  schema: typeof AGREEMENT_SCHEMA;
  file: string;
  seed: number;
  raters: string[];
  items: number;
  components: {
    component: string;
    ratings: number;
    missing: number;
    alpha: AgreementAlpha[];
    kappa: { a: string; b: string; n: number; kappa: number | null }[];
  }[];
}
