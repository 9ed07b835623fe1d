import type { Judge, JudgeMode } from '@agentci/judge';
import type { CaseName } from '@agentci/results';
import type { RunnerConfig, Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { ChatMessage } from '../runners/runner.ts';
import type { JournalEntry } from '../store/journal.ts';
import type { CassetteChoice } from './cassette-choice.ts';
import type { ShardPlan } from './plan-shards.ts';
import type { RunSink } from './run-sink.ts';

/** An agent in the same process: gets the query, gives an answer, the simple form, or a trace. */
export type AgentFunction = (
  query: string,
  context: {
    id: string;
    run: number;
    metadata: Readonly<Record<string, unknown>>;
    vars: Readonly<Record<string, unknown>>;
    signal: AbortSignal;
    /** In a conversation: what it is, what was said, and an object of the agent's own. The first argument is the newest message. */
    query?: string;
    conversation?: string;
    turn?: number;
    message?: string;
    messages?: readonly ChatMessage[];
    state?: Record<string, unknown>;
  },
) => unknown;

/** An agent that is run, not read from recordings. */
export type LiveRunner = Exclude<RunnerConfig, { kind: 'replay' }> | AgentFunction;

/** Where the queries of a run are handed to workers. */
export interface QueueChoice {
  /** `redis://host:port`, without credentials. */
  readonly address: string;
  /** At most so many queries are started in so many milliseconds, over all workers. */
  readonly rate?: { readonly max: number; readonly perMs: number };
  /** How long to wait for a worker that fits (as long as it takes if not given), and for a Redis that went away (a minute). */
  readonly timeoutMs?: number;
  /** What is checked out here: a worker with another commit may run another agent. */
  readonly commit?: string;
}

export interface RunOptions {
  readonly suite: Suite;
  /** Recordings to judge instead of running the agent: a file, a folder, bytes, or traces. */
  readonly traces?: string | Uint8Array | Iterable<Trace> | AsyncIterable<Trace>;
  /** The recordings' format, when it should not be detected. */
  readonly format?: string;
  /** Replaces the spec's runner. */
  readonly runner?: RunnerConfig | AgentFunction;
  /** How rubrics are answered, or a judge of the caller's own. */
  readonly judge?: JudgeMode | Judge;
  /** Share of the queries, 0 to 1, that the ensemble judges; one judge does the rest. */
  readonly sampleEnsemble?: number;
  /** Measure how often the models that play users make mistakes. */
  readonly auditUser?: boolean;
  /** Folder of stored verdicts; `.agentci/judge-cache` beside the spec. */
  readonly judgeCacheDir?: string;
  readonly tags?: readonly string[];
  readonly filter?: string;
  readonly ids?: readonly string[];
  readonly indices?: readonly number[];
  /** Only these values of the matrix, by variable. */
  readonly cells?: Readonly<Record<string, readonly string[]>>;
  /** Only these cases, by id and cell. */
  readonly only?: readonly CaseName[];
  /** How many queries are in progress at a time; 4. */
  readonly workers?: number;
  /** Replaces every query's `runs`. */
  readonly runs?: number;
  /** Retries after an infrastructure error; 2. */
  readonly retries?: number;
  readonly timeoutMs?: number;
  readonly seed?: number;
  /** The baseline version to compare with. */
  readonly baseline?: string;
  readonly baselineDir?: string;
  /** Judges each trace on its own: saved baselines are not even looked for. */
  readonly ignoresBaselines?: boolean;
  readonly signal?: AbortSignal;
  readonly failFast?: boolean;
  /** Stops starting queries once the known cost of agent and judge reaches this; a judge call that could exceed it is not made. */
  readonly maxCostUsd?: number;
  /** Has workers run the agent, on whatever machines they are. */
  readonly queue?: QueueChoice;
  /** Of a run that is continued: the address of the queue it was started with. */
  readonly queueBefore?: string;
  /** Of this program: workers must have the same. */
  readonly version?: string;
  /** How cassettes are used, instead of what the spec says. */
  readonly cassette?: CassetteChoice;
  readonly strict?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly runId?: string;
  /** Runs already done, from the journal of an unfinished run. */
  readonly resumed?: readonly JournalEntry[];
  /** Where the traces of those runs are, for what is measured over a whole run. Recordings are read again anyway. */
  readonly resumedTraces?: string;
  /** Where the run puts what it finds. */
  readonly sink?: RunSink;
  readonly now?: () => number;
  /** Run only this part of the selected queries. */
  readonly shard?: ShardPlan;
}
