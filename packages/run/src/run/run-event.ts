import type { Cell, QueryResult } from '@agentci/results';

/** An event of a run in progress, for progress displays. */
export type RunEvent =
  | { readonly type: 'started'; readonly queries: number; readonly runs: number }
  | {
      readonly type: 'run_started';
      readonly id: string;
      readonly cell?: Cell | undefined;
      readonly run: number;
    }
  | {
      readonly type: 'retrying';
      readonly id: string;
      readonly cell?: Cell | undefined;
      readonly attempt: number;
      readonly message: string;
      readonly delayMs: number;
    }
  /** A note about the run as a whole. */
  | { readonly type: 'note'; readonly code: string; readonly message: string }
  | {
      readonly type: 'run_ended';
      readonly id: string;
      readonly run: number;
      readonly result: QueryResult;
    };
