import type { JudgeMode } from '@agentci/judge';
import type { QueueChoice, RunOptions } from '@agentci/run';
import type { ShardChoice } from '../cli/options.ts';
import type { NotifyOptions } from '../notify/flags.ts';

/**
 * Options whose command line name differs from that of `runSuite`: a shorter one, or because
 * reports use the name.
 */
const RUN_NAMES = {
  traceFormat: 'format',
  timeout: 'timeoutMs',
  maxCost: 'maxCostUsd',
  judgeCache: 'judgeCacheDir',
} as const satisfies Readonly<Record<string, keyof RunOptions>>;

type RunNames = typeof RUN_NAMES;
/** Options that the program sets, or that the command line can only name. */
type Provided =
  | 'suite'
  | 'cells'
  | 'only'
  | 'traces'
  | 'queue'
  | 'queueBefore'
  | 'version'
  | 'judge'
  | 'env'
  | 'signal'
  | 'now'
  | 'runId'
  | 'resumed'
  | 'resumedTraces'
  | 'sink'
  | 'shard'
  | 'runner'
  | 'indices'
  | 'ignoresBaselines';
type Renamed = { readonly [K in keyof RunNames]?: NonNullable<RunOptions[RunNames[K]]> };

/** Options of `test` and `eval`: those of a run, and those only a command needs. */
export interface TestOptions
  extends Omit<RunOptions, Provided | RunNames[keyof RunNames]>,
    Renamed,
    CommandOptions {}

interface CommandOptions extends NotifyOptions {
  readonly config: string;
  readonly format?: readonly string[];
  readonly output?: readonly string[];
  readonly traces?: string;
  readonly judge?: JudgeMode;
  /** URL of a Redis server. */
  readonly queue?: string;
  readonly queueRate?: QueueChoice['rate'];
  readonly queueTimeout?: number;
  readonly failed?: boolean;
  /** Selects only the failures of this run folder. */
  readonly failedFrom?: string;
  readonly shard?: ShardChoice;
  /** Timings for planning shards. */
  readonly weights?: string;
  readonly resume?: boolean;
  readonly quiet?: boolean;
  /** Prints the plan and runs nothing. */
  readonly dryRun?: boolean;
  /** Prints the plan of a dry run, or the results, as JSON. */
  readonly json?: boolean;
  /** Selects cells of the matrix by `name=value`. */
  readonly cell?: readonly string[];
  /** Reruns queries affected by a change. */
  readonly watch?: boolean;
}

/** Passes all run options through. A new one needs only a flag. */
export function runOptionsIn(options: TestOptions): Omit<RunOptions, 'suite'> {
  const {
    config: _,
    format: _format,
    output: _output,
    failed: _failed,
    failedFrom: _failedFrom,
    shard: _shard,
    weights: _weights,
    notifyOn: _notifyOn,
    notifyTemplate: _notifyTemplate,
    resume: _resume,
    quiet: _quiet,
    cell: _cell,
    dryRun: _dryRun,
    json: _json,
    watch: _watch,
    queue,
    queueRate,
    queueTimeout,
    ...run
  } = options;
  const given = Object.entries(run).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(
      given.map(([name, value]) => [RUN_NAMES[name as keyof RunNames] ?? name, value]),
    ),
    queue:
      queue === undefined
        ? undefined
        : { address: queue, rate: queueRate, timeoutMs: queueTimeout },
  };
}
