import type { JudgeMode } from '@agentci/judge';
import type { QueueChoice, RunOptions } from '@agentci/run';
import type { ShardChoice } from '../cli/options.ts';
import type { NotifyOptions } from '../notify/flags.ts';

/** Where the command line has another name for what `runSuite` takes: shorter, or its own is taken by reports. */
const RUN_NAMES = {
  traceFormat: 'format',
  timeout: 'timeoutMs',
  maxCost: 'maxCostUsd',
  judgeCache: 'judgeCacheDir',
} as const satisfies Readonly<Record<string, keyof RunOptions>>;

type RunNames = typeof RUN_NAMES;
/** What the program hands to a run itself, and what a command line can only name. */
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

/** What `test` and `eval` can be told: all that a run takes, and what only a command needs. */
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
  /** The address of a Redis. */
  readonly queue?: string;
  readonly queueRate?: QueueChoice['rate'];
  readonly queueTimeout?: number;
  readonly failed?: boolean;
  /** Only what failed in this run folder. */
  readonly failedFrom?: string;
  readonly shard?: ShardChoice;
  /** Timings that shards are planned from. */
  readonly weights?: string;
  readonly resume?: boolean;
  readonly quiet?: boolean;
  /** Say what would be run, and run nothing. */
  readonly dryRun?: boolean;
  /** The plan of a dry run, or the results, as JSON. */
  readonly json?: boolean;
  /** `name=value` of the matrix. */
  readonly cell?: readonly string[];
  /** Run again what a change touches. */
  readonly watch?: boolean;
}

/** The options of the run, whole: a new one needs a flag and nothing here. */
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
