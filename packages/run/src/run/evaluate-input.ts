import type { Judge, JudgeMode } from '@agentci/judge';
import type { Policy } from '@agentci/policy';
import type { Query } from '@agentci/spec';
import type { PriceLookup, Trace } from '@agentci/trace';
import type { Outside } from './collect-asks.ts';
import type { MetricTools } from './metric-checks.ts';

/** The input of a verdict: the query, the trace, and services for comparing and asking. */
export interface EvaluateInput {
  readonly query: Query;
  readonly trace: Trace;
  readonly baseline?: { readonly version: string; readonly trace: Trace; readonly file?: string };
  /**
   * Scores rubrics. A mode alone is not a judge: `off` skips rubrics, otherwise they are errors.
   */
  readonly judge?: JudgeMode | Judge;
  /** Uses the judge's ensemble. Default: the setting of the judge. */
  readonly useEnsemble?: boolean;
  /** Base folder of a rubric's `context_file`: the folder of the spec. */
  readonly dir?: string;
  readonly price?: PriceLookup;
  /** Policies to check the calls against, instead of the query's own. */
  readonly policies?: readonly Policy[];
  /** Metrics of the spec's modules, and models on this machine. */
  readonly metricTools?: Pick<MetricTools, 'custom' | 'models'>;
  /** Runs the user's own code and compares meanings. */
  readonly outside?: Outside;
}
