/** The JSON contract of an experiment: conditions compared over trials. */
export const EXPERIMENT_SCHEMA = 'agentci.experiment/1';
export const AGREEMENT_SCHEMA = 'agentci.agreement/1';

/** Metrics of a trial. `null` is not measured. */
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
  /** The trial had nothing to measure. It is counted, but not part of any mean. */
  error?: string;
}

export interface IntervalJson {
  low: number;
  high: number;
}

/** Summary statistics of one metric in one condition. */
export interface MetricSummary {
  n: number;
  mean: number;
  /** `null` for one value. */
  sd: number | null;
  ci95: IntervalJson | null;
  median: number;
  min: number;
  max: number;
  /** All values are equal, so there is no spread to test with. */
  zero_variance: boolean;
}

export interface ConditionSummary {
  condition: string;
  /** Trials with a measurement. */
  n: number;
  failed: number;
  metrics: Partial<Record<TrialMetric, MetricSummary>>;
  /** Share of the scored trials in each band of decision quality. `null` if none was scored. */
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
  /** (b − a) / a in percent. `null` if a is zero. */
  relative_improvement_pct: number | null;
  /** The better condition by mean. */
  better: string | null;
  welch: { t: number | null; df: number | null; p: number | null; p_holm: number | null };
  mann_whitney: { u: number | null; p: number | null; p_holm: number | null };
  cohens_d: number | null;
  hedges_g: number | null;
  cliffs_delta: number | null;
  /** Trials per condition that would show the observed difference with power 0.8 at level 0.05. */
  trials_needed: number | null;
  /** Why the p-value is missing. */
  note?: string;
}

export interface AnovaResult {
  metric: TrialMetric;
  f: number | null;
  df: [number, number] | null;
  p: number | null;
  eta_squared: number | null;
  /** Conditions without spread, which violate the test's assumption of equal spread. */
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
  /** Best first. Ties share a list. */
  ranking: string[][];
  /** Compared with the ranking by reference weights. */
  order: 'same' | 'tied' | 'different';
}

/** The contribution of each component to the difference between two conditions' means. */
export interface ComponentDrivers {
  a: string;
  b: string;
  /** b − a, with the reference weights. */
  difference: number;
  /**
   * `share` of the difference. Null for no difference, negative for a component that worked against
   * it.
   */
  components: Record<
    'validity' | 'specificity' | 'correctness',
    { points: number; share: number | null }
  >;
}

export interface WeightSensitivity {
  step: number;
  reference: WeightPoint;
  points: WeightPoint[];
  /** Shares of the weight grid. */
  rank_stability: { same: number; tied: number; different: number };
  /** How often each condition alone wins. */
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
