import type { QueryError, RunResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { Outcome, Run, VoidRun } from './live-agent.ts';
import type { Recorded } from './run-parts.ts';

/** One run of a case, as a source gives it. */
export interface SourcedRun extends Run {
  /** Gives what came of it. A live source runs the agent here. Undefined if the user stopped the run. */
  readonly outcome: () => Promise<SourcedOutcome | undefined>;
}

/** What came of a run; `known` if its verdict is recorded already, and only its trace is needed. */
export type SourcedOutcome = Outcome | { readonly kind: 'known'; readonly trace: Trace };

/** Where the traces of a run come from: recordings, a live agent, or the workers of a queue. */
export interface TraceSource {
  readonly runs: () => AsyncIterable<SourcedRun>;
  /** How many runs are in progress at a time. */
  readonly workers: number;
  /** Running costs money, which counts towards `--max-cost`. */
  readonly isPaid: boolean;
  /** Called when the verdict on a run has been recorded. */
  readonly recorded?: (run: SourcedRun) => void;
  /** Ends what was started, and reports what there is beyond traces. `failed` if a verdict could not be recorded. */
  readonly close: (how?: 'failed') => Promise<SourceReport>;
}

/** What a source found beyond the traces. */
export interface SourceReport extends Partial<Recorded> {
  /** Verdicts that no longer hold. */
  readonly voids?: readonly VoidRun[];
  /** Reasons that make every run of a query void. */
  readonly overruled?: readonly { readonly query: Query; readonly error: QueryError }[];
  /** What the models that played users were asked. */
  readonly user?: RunResult['user'];
  readonly unused?: RunResult['unused'];
}
