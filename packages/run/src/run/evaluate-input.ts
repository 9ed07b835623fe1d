import type { Judge, JudgeMode } from '@agentci/judge';
import type { Policy } from '@agentci/policy';
import type { Query } from '@agentci/spec';
import type { PriceLookup, Trace } from '@agentci/trace';
import type { Outside } from './asks-of.ts';
import type { MetricTools } from './metric-checks.ts';

/** What a verdict is made of: the query, the trace, and what to compare and ask. */
export interface EvaluateInput {
  readonly query: Query;
  readonly trace: Trace;
  readonly baseline?: { readonly version: string; readonly trace: Trace; readonly file?: string };
  /** Who scores rubrics. A mode alone is not a judge: `off` skips rubrics, otherwise they are an error. */
  readonly judge?: JudgeMode | Judge;
  /** Ask the judge's ensemble; as the judge is set up when not given. */
  readonly useEnsemble?: boolean;
  /** Folder that a rubric's `context_file` is looked for in; that of the spec. */
  readonly dir?: string;
  readonly price?: PriceLookup;
  /** Policies to hold the calls against, instead of the query's own. */
  readonly policies?: readonly Policy[];
  /** Metrics of modules the spec uses, and models on this machine. */
  readonly metricTools?: Pick<MetricTools, 'custom' | 'models'>;
  /** What runs the user's own code and compares meanings. */
  readonly outside?: Outside;
}
