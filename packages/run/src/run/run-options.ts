import type { Judge, JudgeMode } from '@agentci/judge';
import type { CaseName } from '@agentci/results';
import type { RunnerConfig, Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { ChatMessage } from '../runners/runner.ts';
import type { JournalEntry } from '../store/journal.ts';
import type { CassetteChoice } from './cassette-choice.ts';
import type { ShardPlan } from './plan-shards.ts';
import type { RunSink } from './run-sink.ts';

/**
 * An agent in the same process. Gets the query and returns an answer, the simple form, or a trace.
 */
export type AgentFunction = (
  query: string,
  context: {
    id: string;
    run: number;
    metadata: Readonly<Record<string, unknown>>;
    vars: Readonly<Record<string, unknown>>;
    signal: AbortSignal;
    /**
     * In a conversation: its id, its messages so far, and an object for the agent's own state. The
     * first argument is the newest message.
     */
    query?: string;
    conversation?: string;
    turn?: number;
    message?: string;
    messages?: readonly ChatMessage[];
    state?: Record<string, unknown>;
  },
) => unknown;

/** An agent that runs, as opposed to recordings. */
export type LiveRunner = Exclude<RunnerConfig, { kind: 'replay' }> | AgentFunction;

/** The queue for the workers of a run. */
export interface QueueChoice {
  /** `redis://host:port`, without credentials. */
  readonly address: string;
  /** Maximum number of query starts per period in milliseconds, over all workers. */
  readonly rate?: { readonly max: number; readonly perMs: number };
  /**
   * Maximum wait for a matching worker (default: no limit) and for a lost Redis (default: one
   * minute).
   */
  readonly timeoutMs?: number;
  /** The checked-out commit. A worker with another commit may run another agent. */
  readonly commit?: string;
}

export interface RunOptions {
  readonly suite: Suite;
  /** Recordings to judge instead of running the agent: a file, a folder, bytes, or traces. */
  readonly traces?: string | Uint8Array | Iterable<Trace> | AsyncIterable<Trace>;
  /** Format of the recordings. Default: detected. */
  readonly format?: string;
  /** Replaces the spec's runner. */
  readonly runner?: RunnerConfig | AgentFunction;
  /** The mode of the judge, or a judge provided by the caller. */
  readonly judge?: JudgeMode | Judge;
  /** Share of the queries, 0 to 1, that the ensemble judges. A single judge does the rest. */
  readonly sampleEnsemble?: number;
  /** Measures how often the models that simulate users make mistakes. */
  readonly auditUser?: boolean;
  /** Folder of stored verdicts. Default: `.agentci/judge-cache` next to the spec. */
  readonly judgeCacheDir?: string;
  readonly tags?: readonly string[];
  readonly filter?: string;
  readonly ids?: readonly string[];
  readonly indices?: readonly number[];
  /** Only these values of the matrix, by variable. */
  readonly cells?: Readonly<Record<string, readonly string[]>>;
  /** Only these cases, by id and cell. */
  readonly only?: readonly CaseName[];
  /** Number of queries to run at once. Default: 4. */
  readonly workers?: number;
  /** Replaces every query's `runs`. */
  readonly runs?: number;
  /** Retries after an infrastructure error. Default: 2. */
  readonly retries?: number;
  readonly timeoutMs?: number;
  readonly seed?: number;
  /** The baseline version to compare with. */
  readonly baseline?: string;
  readonly baselineDir?: string;
  /** Judges each trace without looking for saved baselines. */
  readonly ignoresBaselines?: boolean;
  readonly signal?: AbortSignal;
  readonly failFast?: boolean;
  /**
   * Stops starting queries once the known cost of agent and judge reaches this. Skips judge calls
   * that could exceed it.
   */
  readonly maxCostUsd?: number;
  /** Lets workers run the agent, on any machine. */
  readonly queue?: QueueChoice;
  /** The original queue address of a resumed run. */
  readonly queueBefore?: string;
  /** Version of this program. Workers must have the same. */
  readonly version?: string;
  /** Overrides the cassette settings of the spec. */
  readonly cassette?: CassetteChoice;
  readonly strict?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly runId?: string;
  /** Finished runs from the journal of an unfinished run. */
  readonly resumed?: readonly JournalEntry[];
  /**
   * Path of the traces of those runs, for measurements over the whole run. Recordings are read
   * again anyway.
   */
  readonly resumedTraces?: string;
  /** Receives the results of the run. */
  readonly sink?: RunSink;
  readonly now?: () => number;
  /** Runs only this part of the selected queries. */
  readonly shard?: ShardPlan;
}
