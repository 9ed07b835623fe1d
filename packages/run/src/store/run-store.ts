import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  copyFile,
  LineFile,
  makeFolder,
  openAtLastLine,
  openFile,
  readLines,
  writeFileAtomic,
} from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import type { QueryResult, RunResult } from '@agentci/results';
import {
  type CaseName,
  caseKey,
  isStorable,
  type ResultTexts,
  runTime,
  StoredResult,
} from '@agentci/results';
import type { Trace } from '@agentci/trace';
import { maskTrace } from '@agentci/trace';
import {
  JOURNAL_SCHEMA,
  type JournalEntry,
  type JournalHeader,
  journalPath,
  readJournal,
} from './journal.ts';
import { JournalTexts } from './journal-texts.ts';
import { stateOf } from './recording-state.ts';
import { noteResumed } from './resumed-note.ts';
import { RunLock } from './run-lock.ts';
import {
  gatesPath,
  type PlanFile,
  planPath,
  type ShardFile,
  shardPath,
  shardText,
} from './shard-file.ts';
import { dropRevoked, dropUnjudged, restoreTraces, tracesPath } from './unjudged-traces.ts';

/**
 * Number of results to keep in memory. Later ones are read from the journal on demand. Thousands
 * would slow down every garbage collection, and most are never used again.
 */
const MAX_IN_MEMORY = 100;

/**
 * Maximum to buffer in one turn of the event loop. Leaves room for a line of `LONG`, so that no
 * file is written out of order.
 */
const MAX_HELD = 128 * 1024;
const LONG = 64 * 1024;

/**
 * `each`: every result is on disk before the run continues. `handed-over`: passed to the system at
 * the end of each turn of the event loop. A kill loses a moment, a power loss more, unless `sync`
 * was called. For replayed agents, which run again for free, and for results that stay in a queue
 * until they are on disk. `batched`: for recordings, which need not run again.
 */
export type Durability = 'each' | 'handed-over' | 'batched';

export interface StoreOptions {
  readonly durability?: Durability;
  /** Number of results to keep in memory. */
  readonly inMemory?: number;
  /** Options of a resumed run, if they differ from those of its start. */
  readonly startedWith?: JournalHeader['started_with'];
  /** The folder of the run, if it is not named after the run. */
  readonly dir?: string;
  /** New position of a resumed run. */
  readonly place?: string;
}

/**
 * `<root>/<run-id>/`: `results.jsonl` (one line per finished run of a query),
 * `traces/traces.jsonl`, and `run.json`, which is written last. If the journal holds the same
 * result, `run.json` only has its id.
 */
export class RunStore {
  readonly #dir: string;
  readonly #journal: LineFile;
  readonly #traces: LineFile;
  readonly #inMemory: number;
  readonly #lock: RunLock;
  readonly #durability: Durability;
  #handing: NodeJS.Immediate | undefined;
  #isClosed = false;
  /** By `caseKey`. */
  readonly #revoked = new Set<string>();
  /** Results by identity, to know which of them the journal already holds. */
  readonly #journaled = new Set<QueryResult>();
  readonly #texts: JournalTexts;
  readonly #results: ResultTexts = {
    read: (at, length) => {
      if (!this.#isClosed) this.#handOver();
      return this.#texts.read(at, length);
    },
  };
  /** Position of the last recorded result in the journal. */
  #last: { readonly result: QueryResult; readonly at: number; readonly length: number } | undefined;

  private constructor(
    dir: string,
    lock: RunLock,
    fds: { journal: number; traces: number },
    options: StoreOptions,
  ) {
    const { durability = 'each', inMemory = MAX_IN_MEMORY } = options;
    this.#inMemory = inMemory;
    this.#dir = dir;
    this.#lock = lock;
    this.#durability = durability;
    const isSynced = durability === 'each';
    this.#journal = new LineFile(fds.journal, journalPath(dir), { isSynced });
    this.#traces = new LineFile(fds.traces, tracesPath(dir), { isSynced });
    this.#texts = new JournalTexts(journalPath(dir));
  }

  static create(
    root: string,
    header: Omit<JournalHeader, 'schema'>,
    options: StoreOptions = {},
  ): RunStore {
    const dir = options.dir ?? join(root, header.run_id);
    makeFolder(join(dir, 'traces'));
    const lock = RunLock.take(dir, header.run_id);
    try {
      const journal = openFile(journalPath(dir), 'ax');
      const store = new RunStore(
        dir,
        lock,
        { journal, traces: openFile(tracesPath(dir), 'ax') },
        options,
      );
      store.#journal.append(JSON.stringify({ schema: JOURNAL_SCHEMA, ...header }));
      store.#journal.flush();
      return store;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /**
   * Opens an unfinished run to resume it. Drops a truncated last line, because its query was not
   * finished. Throws while another process works on the run, and if that process has finished it.
   */
  static reopen(
    root: string,
    runId: string,
    options: StoreOptions = {},
  ): { store: RunStore; entries: JournalEntry[] } {
    const dir = join(root, runId);
    const lock = RunLock.take(dir, runId);
    try {
      if (existsSync(join(dir, 'run.json')))
        throw new UserError(
          'RESUME_REFUSED',
          `run ${runId} is finished: another process has just completed it`,
        );
      const { entries } = readJournal(journalPath(dir));
      if (!existsSync(tracesPath(dir))) restoreTraces(dir, entries);
      const journal = openAtLastLine(journalPath(dir));
      const traces = openAtLastLine(tracesPath(dir));
      dropUnjudged(traces, tracesPath(dir), entries);
      noteResumed(dir, options.place ?? runTime(new Date().toISOString()), options.startedWith);
      return { store: new RunStore(dir, lock, { journal, traces }, options), entries };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Trace first: a result without its trace would be worse than neither. */
  record(entry: JournalEntry, trace: Trace | undefined): void {
    if (trace) this.#traces.append(JSON.stringify(maskTrace(trace)));
    const { id, run, result, json = JSON.stringify(result), revokes = false } = entry;
    if (revokes) this.#revoked.add(caseKey({ id, cell: result.cell }));
    // The ledger has masked the result. Reports use the same one.
    const head = `{"id":${JSON.stringify(id)},"run":${run},${revokes ? '"revokes":true,' : ''}"result":`;
    const at = this.#journal.size + Buffer.byteLength(head);
    if (json.length > LONG) this.#traces.flush();
    this.#journal.append(head, json, '}');
    if (this.#durability === 'handed-over') this.#handOverSoon();
    if (run !== 1) return;
    this.#journaled.add(result);
    this.#last = { result, at, length: this.#journal.size - at - '}\n'.length };
  }

  /**
   * A system call per result costs more than the result, so those of one turn are written together.
   */
  #handOverSoon(): void {
    if (this.#traces.held + this.#journal.held > MAX_HELD) this.#handOver();
    this.#handing ??= setImmediate(() => {
      this.#handing = undefined;
      try {
        if (!this.#isClosed) this.#handOver();
      } catch {
        // The file keeps the error and reports it on the next write or close.
      }
    });
  }

  /** Traces first, as in `record`. */
  #handOver(): void {
    this.#traces.flush();
    this.#journal.flush();
  }

  /** Makes sure that everything recorded so far is on disk. Traces first, as in `record`. */
  async sync(): Promise<void> {
    this.#handOver();
    await this.#traces.sync();
    await this.#journal.sync();
  }

  /** The result to keep in memory: after the first hundred, a reference that is read on demand. */
  keep(result: QueryResult): QueryResult {
    const last = this.#last;
    if (last?.result !== result || this.#journaled.size <= this.#inMemory || !isStorable(result))
      return result;
    this.#journaled.delete(result);
    return new StoredResult(result, this.#results, last);
  }

  /** Records which recordings the run judges. They are not copied. */
  judges(path: string): void {
    const note = { path, state: stateOf(path) };
    // No sync: the recordings can be judged again after a crash.
    writeFileAtomic(join(this.#dir, 'recordings.json'), `${JSON.stringify(note)}\n`, {
      isSynced: false,
    });
  }

  /** Records which part of a plan the run is. */
  isShard(file: Omit<ShardFile, 'schema'>, plan: PlanFile): void {
    writeFileAtomic(planPath(this.#dir), `${JSON.stringify(plan)}\n`);
    writeFileAtomic(shardPath(this.#dir), shardText(file));
  }

  /** Stores the parts from which `agentci merge` decides the whole run. */
  keepGates(parts: unknown): void {
    writeFileAtomic(gatesPath(this.#dir), `${JSON.stringify(parts)}\n`);
  }

  /**
   * Takes over the traces of another run, or the reference to its recordings. Drops a truncated
   * last line.
   */
  adoptTraces(dir: string): void {
    const note = join(dir, 'recordings.json');
    if (existsSync(note)) copyFile(note, join(this.#dir, 'recordings.json'));
    for (const line of readLines(tracesPath(dir))) if (line.isWhole) this.#traces.append(line.text);
  }

  finish(run: RunResult): void {
    try {
      this.#closeFiles();
      const results = run.results.map((result) =>
        this.#isJournaled(result) ? nameOf(result) : result,
      );
      writeFileAtomic(join(this.#dir, 'run.json'), `${JSON.stringify({ ...run, results })}\n`);
    } finally {
      this.#lock.release();
    }
  }

  #isJournaled = (result: QueryResult): boolean =>
    result instanceof StoredResult || this.#journaled.has(result);

  close(): void {
    try {
      this.#closeFiles();
    } finally {
      this.#lock.release();
    }
  }

  /** Removes a run without recorded results. */
  discard(): void {
    try {
      this.close();
    } finally {
      rmSync(this.#dir, { recursive: true, force: true });
    }
  }

  #closeFiles(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#traces.close();
    } catch (error) {
      this.#journal.abandon();
      throw error;
    }
    this.#journal.close();
    if (this.#revoked.size > 0) dropRevoked(tracesPath(this.#dir), this.#revoked);
  }
}

/** The key of a result in the journal. */
const nameOf = ({ id, cell }: QueryResult): CaseName =>
  cell === undefined ? { id } : { id, cell };
