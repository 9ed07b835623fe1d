import { hostname } from 'node:os';
import { isSystemError, systemErrorText, UserError } from '@agentci/lib/problems';
import type { QueryResult, RunResult } from '@agentci/results';
import { runTime } from '@agentci/results';
import type {
  Durability,
  JournalEntry,
  JudgedRun,
  RunParts,
  RunSink,
  ShardPlan,
  StoredRun,
} from '@agentci/run';
import { isPart, RunStore, type StoreOptions } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { ciJobOf } from '../ci/ci-run.ts';
import type { GitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { placeOfRun, type RunPlace } from '../stored-runs/run-place.ts';
import { folderOf } from '../stored-runs/spec-folders.ts';

interface SessionInput {
  readonly root: string;
  readonly suite: Suite;
  readonly startedWith: Readonly<Record<string, unknown>>;
  /** Recordings are referenced, not copied. */
  readonly recordings: string | undefined;
  /** The agent run that produced the recordings, if known. */
  readonly judges: JudgedRun | undefined;
  /** The unfinished run to continue. */
  readonly previous: StoredRun | undefined;
  /**
   * The agent's model is replayed from cassettes, or a queue keeps results until they are on disk.
   */
  readonly canRepeat: boolean;
  /** The plan that contains this run. */
  readonly shard?: ShardPlan | undefined;
  /** The command of the run, without its selection of queries. */
  readonly command?: string;
  readonly git: GitState;
  readonly io: Io;
}

/**
 * Stores one run on disk. Writes nothing before the first result, so a run that never started
 * leaves no files.
 */
export class StoreSession {
  readonly runId: string;
  readonly entries: readonly JournalEntry[];
  /** Position among the runs that existed at the start or resume. */
  readonly place: RunPlace;
  readonly #input: SessionInput;
  readonly #startedAt: string;
  #store: RunStore | undefined;
  #isRefused = false;
  /** Nothing is recorded yet. */
  #isEmpty = true;
  /** Data of the run other than its results. */
  #parts: RunParts | undefined;

  constructor(input: SessionInput) {
    this.#input = input;
    this.#startedAt = new Date(input.io.now()).toISOString();
    const { suite, previous, io } = input;
    const { order, ahead } = placeOfRun(folderOf(suite, io), {
      id: previous?.id,
      at: this.#startedAt,
      io,
    });
    this.place = { ahead, order: order ?? (previous && runTime(this.#startedAt)) };
    if (previous === undefined) {
      this.runId = newRunId(this.#startedAt, input.io.random());
      this.entries = [];
      return;
    }
    const { store, entries } = RunStore.reopen(input.root, previous.id, {
      ...this.#options,
      place: this.place.order,
      startedWith: input.startedWith,
    });
    this.runId = previous.id;
    this.entries = entries;
    this.#store = store;
  }

  get judges(): JudgedRun | undefined {
    return this.#input.judges;
  }

  get shard(): ShardPlan | undefined {
    return this.#input.shard;
  }

  /** All queries of the suite were selected. */
  get isWhole(): boolean {
    return !isPart({ started_with: this.#input.startedWith });
  }

  /** Its start time, and its position if that differs from the time. */
  get ran(): { readonly at: string; readonly order?: string } {
    return { at: this.#startedAt, order: this.place.order };
  }

  get isStored(): boolean {
    return this.#store !== undefined;
  }

  /** Receives the events of a run. */
  get sink(): RunSink {
    return { keep: this.keep, begin: this.begin, sync: this.sync, parts: this.parts };
  }

  record = (entry: JournalEntry, trace: Trace | undefined): void => {
    this.#isEmpty = false;
    this.#open()?.record(entry, this.#input.recordings === undefined ? trace : undefined);
  };

  /** Creates the run before the first result, because workers are about to start. */
  begin = (): void => void this.#open();

  /** Flushes all records to disk. */
  sync = async (): Promise<void> => this.#store?.sync();

  /** The part of a recorded result to keep in memory. */
  keep = (result: QueryResult): QueryResult => this.#store?.keep(result) ?? result;

  get models(): readonly string[] | undefined {
    return this.#parts?.models;
  }

  parts = (parts: RunParts): void => {
    this.#parts = parts;
  };

  /** An interrupted run stays open, so that --resume can continue it. */
  end(run: RunResult): void {
    if (run.interrupted) {
      this.#store?.close();
      return;
    }
    const store = this.#open();
    if (this.#input.shard !== undefined && this.#parts !== undefined)
      store?.keepGates(carried(this.#parts));
    store?.finish(run);
  }

  /** Closes the run after an error. Finished repeats stay for --resume. */
  abandon(): void {
    try {
      if (this.#isEmpty && this.#input.previous === undefined) this.#store?.discard();
      else this.#store?.close();
    } catch {
      // The error that ended the run is reported instead.
    }
  }

  get #options(): StoreOptions {
    const { recordings, canRepeat } = this.#input;
    let durability: Durability | undefined;
    if (recordings !== undefined) durability = 'batched';
    else if (canRepeat) durability = 'handed-over';
    else durability = 'each';
    return {
      durability,
    };
  }

  #open(): RunStore | undefined {
    if (this.#store !== undefined || this.#isRefused) return this.#store;
    const { root, suite, startedWith, recordings, shard, command, io } = this.#input;
    try {
      const spec = { file: suite.file, hash: suite.hash };
      const header = {
        run_id: this.runId,
        agent: suite.agent,
        spec,
        started_at: this.#startedAt,
        ...this.#input.git,
        judges: this.#input.judges,
        order: this.place.order,
        started_with: startedWith,
      };
      this.#store = RunStore.create(root, header, this.#options);
      if (recordings !== undefined) this.#store.judges(recordings);
      if (shard !== undefined) {
        const { index, count, hash, ...plan } = shard;
        this.#store.isShard(
          {
            version: io.version,
            agent: suite.agent,
            spec,
            index,
            count,
            plan_hash: hash,
            suite_size: suite.queries.length,
            command,
            ci: ciJobOf(io.env, hostname()),
          },
          plan,
        );
      }
    } catch (error) {
      if (error instanceof UserError) throw error;
      // Merge needs the stored run of a shard.
      if (isMachineFull(error) || shard !== undefined) throw notStored(error, root);
      // A read-only checkout can be judged but not resumed.
      this.#isRefused = true;
      io.stderr.write(`agentci: the run is not stored: ${(error as Error).message}\n`);
    }
    return this.#store;
  }
}

/** Only the user's module can compute a custom metric, so its input is omitted. */
const carried = (parts: RunParts): RunParts => ({
  ...parts,
  metrics: parts.metrics.map((metric) =>
    metric.isCustom
      ? { ...metric, inputs: metric.inputs.map((one) => ({ ...one, input: null })) }
      : metric,
  ),
});

/** A full disk would lose results later. A read-only folder is the user's choice. */
const isMachineFull = (error: unknown): boolean =>
  isSystemError(error) &&
  ['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(error.code);

const notStored = (error: unknown, root: string): UserError =>
  new UserError(
    'RUN_NOT_WRITTEN',
    `the run cannot be stored in ${root}: ${systemErrorText(error)}`,
    {
      hint: 'With the cause removed, start the run again.',
    },
  );

/** `20261115-214012345-3f2a`: starts with the time in milliseconds, so that names sort by age. */
export function newRunId(startedAt: string, chance: number): string {
  return `${runTime(startedAt)}-${Math.floor(chance * 0x10000)
    .toString(16)
    .padStart(4, '0')}`;
}
