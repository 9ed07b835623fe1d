import type { RunnerConfig } from '@agentci/spec';
import type { Scoring } from './score-trial.ts';
import type { Simulation } from './simulate-trials.ts';

/** Source of a condition's trials. */
export type ConditionSource =
  | {
      readonly kind: 'runner';
      readonly runner: Exclude<RunnerConfig, { kind: 'replay' }>;
      readonly query: string;
      readonly trials: number;
    }
  | { readonly kind: 'traces'; readonly path: string; readonly format?: string }
  | { readonly kind: 'data'; readonly path: string; readonly condition: string }
  | { readonly kind: 'simulate'; readonly simulation: Simulation; readonly trials: number };

export interface ConditionPlan {
  readonly name: string;
  readonly description?: string;
  readonly seed: number;
  /** Names of excluded trials, as text. */
  readonly exclude: ReadonlySet<string>;
  readonly source: ConditionSource;
}

/** A validated experiment file with defaults. */
export interface ExperimentPlan {
  readonly name: string;
  readonly file: string;
  readonly dir: string;
  readonly hash: string;
  readonly seed: number;
  readonly profileName: string;
  readonly scoring: Scoring;
  readonly sensitivityStep: number;
  readonly conditions: readonly ConditionPlan[];
}
