import type { QueryError, RunResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { Outcome, Run, VoidRun } from './live-agent.ts';
import type { Recorded } from './run-parts.ts';

/** One run of a case from a source. */
export interface SourcedRun extends Run {
  /**
   * Returns its outcome. A live source runs the agent here. Undefined if the user stopped the run.
   */
  readonly outcome: () => Promise<SourcedOutcome | undefined>;
}

/**
 * The outcome of a run. `known` if its verdict is recorded already, and only its trace is needed.
 */
export type SourcedOutcome = Outcome | { readonly kind: 'known'; readonly trace: Trace };

/** A source of traces: recordings, a live agent, or the workers of a queue. */
export interface TraceSource {
  readonly runs: () => AsyncIterable<SourcedRun>;
  /** Number of runs in progress at a time. */
  readonly workers: number;
  /** Running costs money, which counts toward `--max-cost`. */
  readonly isPaid: boolean;
  /** Called after the verdict on a run has been recorded. */
  readonly recorded?: (run: SourcedRun) => void;
  /**
   * Ends everything that was started, and reports the rest. `failed` if a verdict could not be
   * recorded.
   */
  readonly close: (how?: 'failed') => Promise<SourceReport>;
}

/** Findings of a source beyond the traces. */
export interface SourceReport extends Partial<Recorded> {
  /** Verdicts that no longer hold. */
  readonly voids?: readonly VoidRun[];
  /** Reasons that void every run of a query. */
  readonly overruled?: readonly { readonly query: Query; readonly error: QueryError }[];
  /** Usage of the models that simulated users. */
  readonly user?: RunResult['user'];
  readonly unused?: RunResult['unused'];
}
