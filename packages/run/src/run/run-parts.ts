import type { MetricInput } from '@agentci/metrics';
import type { CaseName, Cell, CheckResult, RunResult, UserAudit } from '@agentci/results';
import type { MetricRequest } from '@agentci/spec';

/**
 * What a run knows beyond the results of its queries, as data: all that is decided once over the whole run comes from here.
 * A shard writes its parts down, and `agentci merge` decides over all of them without the spec.
 */
export interface RunParts {
  readonly strict: boolean;
  /** The agent's models, as its traces name them. */
  readonly models: readonly string[];
  readonly recorded: Recorded;
  readonly late: { readonly checks: CheckResult[]; readonly inReplay: boolean };
  /** What went wrong outside after verdicts were given. */
  readonly outside: CheckResult[];
  readonly tools: ToolSightings;
  readonly judge: JudgeParts;
  readonly user?: RunResult['judge'];
  readonly audit?: AuditParts;
  readonly unused?: RunResult['unused'];
  /** Runs whose cost is not known; absent without `--max-cost`. */
  readonly unpricedRuns?: number;
  /** What the choice of baselines had to say. */
  readonly baselines: readonly string[];
  /** How checks that were blind could see. */
  readonly hint?: string;
  readonly matrix?: { readonly cells: readonly Cell[]; readonly baseline?: Cell };
  /** Metrics over the whole run. */
  readonly metrics: readonly SuiteMetricParts[];
}

/** What reading recordings came to, beyond the results. */
export interface Recorded {
  /** One `error` per record that could not be read and belongs to no query. */
  readonly checks: CheckResult[];
  readonly notices: string[];
  /** Recordings that belong to no query. */
  readonly unmatched: number;
  /** Recordings were judged and no agent was run. */
  readonly isAll?: true;
}

/** Which tools the recordings know, and which the rules name. */
export interface ToolSightings {
  readonly isBlind: boolean;
  readonly known: readonly string[];
  readonly ruled: readonly string[];
  readonly constrained: readonly string[];
  readonly forbidden: readonly string[];
}

export interface JudgeParts {
  readonly usage: RunResult['judge'];
  /** Rubrics that were not judged because the judge is off. */
  readonly off: number;
  /** The first failure of each kind. */
  readonly failures: readonly (readonly [kind: string, message: string])[];
  /** Models whose calls `--max-cost` cannot count. */
  readonly unpriced: readonly string[];
  readonly sample?: {
    readonly share: number;
    readonly sampled: readonly string[];
    readonly of: number;
  };
}

export interface AuditParts
  extends Pick<
    UserAudit,
    'conversations' | 'faulty' | 'messages' | 'faulty_messages' | 'undecided' | 'faults' | 'judge'
  > {
  /** Why the first conversation could not be audited. */
  readonly why?: string;
}

/** One metric over the whole run, with what it needs of each run of a query. */
export interface SuiteMetricParts {
  readonly request: MetricRequest;
  /** The user's own: only a process that has loaded its module can measure it. */
  readonly isCustom: boolean;
  readonly location?: NonNullable<CheckResult['location']>;
  readonly inputs: readonly SuiteMetricInput[];
}

export interface SuiteMetricInput {
  readonly of: CaseName;
  readonly run: number;
  /** `null` for a run that left no trace: the metric must know that it cannot know. */
  readonly input: MetricInput | null;
}
