import type { RunResult } from '../results/run-result.ts';
import type { TraceEvaluator } from './evaluate-trace.ts';
import type { Ledger } from './ledger.ts';

/** What running an agent came to, beyond the results. */
export interface Collected {
  /** What the models that played users were asked. */
  readonly user: RunResult['user'];
  readonly unused?: RunResult['unused'];
  readonly notices: readonly string[];
}

/** What results are written to, and how they are judged. */
export interface Around {
  readonly ledger: Ledger;
  readonly evaluate: TraceEvaluator;
}
