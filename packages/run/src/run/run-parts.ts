import type { MetricInput } from '@agentci/metrics';
import type { CaseName, Cell, CheckResult, RunResult, UserAudit } from '@agentci/results';
import type { MetricRequest } from '@agentci/spec';

/**
 * Facts of a run beyond the results of its queries, as data. All checks over the whole run are
 * based on them. A shard stores its parts, and `agentci merge` decides over all of them without the
 * spec.
 */
export interface RunParts {
  readonly strict: boolean;
  /** The agent's models, as its traces name them. */
  readonly models: readonly string[];
  readonly recorded: Recorded;
  readonly late: { readonly checks: CheckResult[]; readonly inReplay: boolean };
  /** Background errors after verdicts were given. */
  readonly outside: CheckResult[];
  readonly tools: SeenTools;
  readonly judge: JudgeParts;
  readonly user?: RunResult['judge'];
  readonly audit?: AuditParts;
  readonly unused?: RunResult['unused'];
  /** Number of runs without a known cost. Absent without `--max-cost`. */
  readonly unpricedRuns?: number;
  /** Notes about the selected baselines. */
  readonly baselines: readonly string[];
  /** How to get evidence for checks that lacked it. */
  readonly hint?: string;
  readonly matrix?: { readonly cells: readonly Cell[]; readonly baseline?: Cell };
  /** Metrics over the whole run. */
  readonly metrics: readonly SuiteMetricParts[];
}

/** Facts from reading recordings, beyond the results. */
export interface Recorded {
  /** One `error` per unreadable record that belongs to no query. */
  readonly checks: CheckResult[];
  readonly notices: string[];
  /** Number of recordings that belong to no query. */
  readonly unmatched: number;
  /** Recordings were judged without running an agent. */
  readonly isAll?: true;
}

/** The tools in the recordings, and the tools that rules name. */
export interface SeenTools {
  readonly isBlind: boolean;
  readonly known: readonly string[];
  readonly ruled: readonly string[];
  readonly constrained: readonly string[];
  readonly forbidden: readonly string[];
}

export interface JudgeParts {
  readonly usage: RunResult['judge'];
  /** Number of rubrics that were skipped because the judge is off. */
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
  /** The reason why the first conversation could not be audited. */
  readonly why?: string;
}

/** One metric over the whole run, with its input for each run of a query. */
export interface SuiteMetricParts {
  readonly request: MetricRequest;
  /** A custom metric. Only a process that has loaded its module can measure it. */
  readonly isCustom: boolean;
  readonly location?: NonNullable<CheckResult['location']>;
  readonly inputs: readonly SuiteMetricInput[];
}

export interface SuiteMetricInput {
  readonly of: CaseName;
  readonly run: number;
  /** `null` for a run without a trace: the metric must know that a value is missing. */
  readonly input: MetricInput | null;
}
