import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemErrorText } from '../kit/system-error.ts';
import { UserError } from '../kit/user-error.ts';
import { type CaseName, type Cell, caseKey } from '../results/cell.ts';
import type { QueryResult, RunResult } from '../results/run-result.ts';
import { isStorable, StoredResult } from '../results/stored-result.ts';
import { maskTrace } from '../trace/mask-trace.ts';
import type { Trace } from '../trace/model.ts';
import { writeFileAtomic } from './atomic-write.ts';
import { JournalTexts } from './journal-texts.ts';
import { RunLock } from './run-lock.ts';
import { TextFile } from './text-file.ts';

const JOURNAL_SCHEMA = 'agentci.journal/1';
const MAX_HEADER_BYTES = 64 * 1024;
/** Results of a run that stay in memory; those that follow are read from the journal when someone needs them. */
const MAX_IN_MEMORY = 1000;

/** The first line of a journal: which spec the run belongs to, so that only the same one resumes it. */
export interface JournalHeader {
  readonly schema: typeof JOURNAL_SCHEMA;
  readonly run_id: string;
  readonly agent: string;
  readonly spec: { readonly file: string; readonly hash: string };
  readonly started_at: string;
  /** What was chosen when the run was started; a resumed run continues with the same. */
  readonly started_with?: Readonly<Record<string, unknown>>;
}

/** A finished run of a query, as the journal keeps it. */
export interface JournalEntry {
  readonly id: string;
  readonly run: number;
  readonly result: QueryResult;
  /** The result as JSON, where it was made already. */
  readonly json?: string;
}

export interface StoreOptions {
  /** `each`: on disk before the next thing happens. `batched`: for recordings, which can be judged again for nothing. */
  readonly durability?: 'each' | 'batched';
  /** A report will want the results as JSON, so the texts of the journal are kept for it. */
  readonly keepsJson?: boolean;
}

/**
 * `<root>/<run-id>/`: `results.jsonl` (one line per finished run of a query), `traces/traces.jsonl`, and `run.json`, which
 * is written last. A result that is in the journal as it is goes into `run.json` by its id alone.
 */
export class RunStore {
  readonly #dir: string;
  readonly #journal: LineFile;
  readonly #traces: LineFile;
  readonly #keepsJson: boolean;
  readonly #lock: RunLock;
  #isClosed = false;
  /** Results by identity, to know at the end which of them the journal already holds, with their JSON if it is kept. */
  readonly #journaled = new Map<QueryResult, string | undefined>();
  readonly #texts: JournalTexts;
  /** Where the result that was recorded last is in the journal. */
  #last: { readonly result: QueryResult; readonly at: number; readonly length: number } | undefined;

  private constructor(dir: string, lock: RunLock, fds: { journal: number; traces: number }, options: StoreOptions) {
    const { durability = 'each', keepsJson = false } = options;
    this.#dir = dir;
    this.#lock = lock;
    this.#journal = new LineFile(fds.journal, journalPath(dir), durability);
    this.#traces = new LineFile(fds.traces, tracesPath(dir), durability);
    this.#keepsJson = keepsJson;
    this.#texts = new JournalTexts(journalPath(dir));
  }

  static create(root: string, header: Omit<JournalHeader, 'schema'>, options: StoreOptions = {}): RunStore {
    const dir = join(root, header.run_id);
    mkdirSync(join(dir, 'traces'), { recursive: true });
    const lock = RunLock.take(dir, header.run_id);
    try {
      const journal = openSync(journalPath(dir), 'ax');
      const store = new RunStore(dir, lock, { journal, traces: openSync(tracesPath(dir), 'ax') }, options);
      store.#journal.append(JSON.stringify({ schema: JOURNAL_SCHEMA, ...header }));
      store.#journal.flush();
      return store;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /**
   * Opens an unfinished run to continue with it. A line cut off by a kill is dropped: its query was not finished. Refused
   * while another process works on the run, and when that one has finished it in the meantime.
   */
  static reopen(root: string, runId: string, options: StoreOptions = {}): { store: RunStore; entries: JournalEntry[] } {
    const dir = join(root, runId);
    const lock = RunLock.take(dir, runId);
    try {
      if (existsSync(join(dir, 'run.json')))
        throw new UserError('NOTHING_TO_RESUME', `run ${runId} is finished: another process has just completed it`);
      const { entries } = readJournal(journalPath(dir));
      if (!existsSync(tracesPath(dir))) restoreTraces(dir, entries);
      const journal = openAtLastLine(journalPath(dir));
      const traces = openAtLastLine(tracesPath(dir));
      dropUnjudged(traces, tracesPath(dir), entries);
      writeFileAtomic(resumedPath(dir), `${new Date().toISOString()}\n`);
      return { store: new RunStore(dir, lock, { journal, traces }, options), entries };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Trace first: a result whose trace is missing would be worse than neither. */
  record(entry: JournalEntry, trace: Trace | undefined): void {
    if (trace) this.#traces.append(JSON.stringify(maskTrace(trace)));
    const { id, run, result, json = JSON.stringify(result) } = entry;
    // The ledger has masked the result; reports are made of the same one.
    const head = `{"id":${JSON.stringify(id)},"run":${run},"result":`;
    const at = this.#journal.size + Buffer.byteLength(head);
    this.#journal.append(head, json, '}');
    if (run !== 1) return;
    this.#journaled.set(result, this.#keepsJson ? json : undefined);
    this.#last = { result, at, length: this.#journal.size - 2 - at };
  }

  /** What to keep in memory of a result that was just recorded: beyond the first thousand, where to read it again. */
  keep(result: QueryResult): QueryResult {
    const last = this.#last;
    if (last?.result !== result || this.#journaled.size <= MAX_IN_MEMORY || !isStorable(result)) return result;
    this.#journaled.delete(result);
    const { at, length } = last;
    return new StoredResult(result, () => {
      if (!this.#isClosed) this.#journal.flush();
      return this.#texts.read(at, length);
    });
  }

  /** The JSON of a result that went into the journal as it is, where it was kept. */
  jsonOf(result: QueryResult): string | undefined {
    return result instanceof StoredResult ? result.text() : this.#journaled.get(result);
  }

  /** Notes which recordings the run judges; they stay where they are. */
  judges(path: string): void {
    const note = { path, state: stateOf(path) };
    writeFileAtomic(join(this.#dir, 'recordings.json'), `${JSON.stringify(note)}\n`);
  }

  finish(run: RunResult): void {
    try {
      this.#closeFiles();
      const results = run.results.map((result) => (this.#isJournaled(result) ? nameOf(result) : result));
      writeFileAtomic(join(this.#dir, 'run.json'), `${JSON.stringify({ ...run, results })}\n`);
    } finally {
      this.#lock.release();
    }
  }

  #isJournaled = (result: QueryResult): boolean => result instanceof StoredResult || this.#journaled.has(result);

  close(): void {
    try {
      this.#closeFiles();
    } finally {
      this.#lock.release();
    }
  }

  #closeFiles(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#traces.close();
    this.#journal.close();
  }
}

const journalPath = (dir: string): string => join(dir, 'results.jsonl');
const tracesPath = (dir: string): string => join(dir, 'traces', 'traces.jsonl');

/** A file that only grows, one JSON document per line. It is opened for appending: two writers could not overwrite each other. */
class LineFile {
  readonly #fd: number;
  readonly #file: TextFile;
  readonly #durability: StoreOptions['durability'];
  readonly #path: string;
  #failure: Error | undefined;

  constructor(fd: number, path: string, durability: StoreOptions['durability']) {
    this.#fd = fd;
    this.#path = path;
    this.#file = new TextFile(fd, fstatSync(fd).size);
    this.#durability = durability;
  }

  get size(): number {
    return this.#file.size;
  }

  /** Adds a line given in pieces. */
  append(...pieces: readonly string[]): void {
    this.#attempt(() => {
      this.#file.appendMasked(...pieces, '\n');
      if (this.#durability === 'each') this.#sync();
    });
  }

  flush(): void {
    this.#attempt(() => this.#file.flush());
  }

  /** On the disk itself: what counts must outlast a loss of power. */
  #sync(): void {
    this.#file.flush();
    fdatasyncSync(this.#fd);
  }

  /** After a failure half a line may be there, which the next reader drops; another line after it would spoil both. */
  #attempt(write: () => void): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      write();
    } catch (error) {
      this.#failure = notWritten(error, this.#path);
      throw this.#failure;
    }
  }

  close(): void {
    try {
      if (this.#failure === undefined) this.#attempt(() => this.#sync());
    } finally {
      closeSync(this.#fd);
    }
  }
}

function notWritten(error: unknown, path: string): Error {
  const reason = systemErrorText(error);
  if (reason === undefined) return error as Error;
  return new UserError('RUN_NOT_WRITTEN', `${path} cannot be written: ${reason}`, {
    hint: 'What was finished before is kept; with the cause removed, --resume continues the run.',
  });
}

/** Traces that were deleted cannot be made again; where none was written there is nothing to miss. */
function restoreTraces(dir: string, entries: readonly JournalEntry[]): void {
  const isJudged = existsSync(join(dir, 'recordings.json'));
  if (!isJudged && entries.some(({ result }) => result.error === undefined)) {
    throw new UserError('RUN_DAMAGED', `${tracesPath(dir)} is missing: the stored run is damaged`, {
      hint: 'Start a new run without --resume; the verdicts so far are in results.jsonl.',
    });
  }
  mkdirSync(join(dir, 'traces'), { recursive: true });
}

function openAtLastLine(path: string): number {
  const fd = openSync(path, 'a+');
  const bytes = readFileSync(path);
  ftruncateSync(fd, bytes.lastIndexOf(0x0a) + 1);
  return fd;
}

/**
 * A kill between the two writes leaves a trace without its result. Its query is run again, and two traces of one run
 * would make the stored run unreadable, so that one goes. Only the last can be it.
 */
function dropUnjudged(fd: number, path: string, entries: readonly JournalEntry[]): void {
  const bytes = readFileSync(path);
  const lines = bytes.toString('utf8').split('\n').filter(Boolean);
  const ids = lines.map(caseOf);
  const last = ids.at(-1);
  if (last === undefined) return;
  const count = (list: readonly (string | undefined)[]): number => list.filter((id) => id === last).length;
  if (count(ids) <= count(entries.map(({ id, result }) => caseKey({ id, cell: result.cell })))) return;
  ftruncateSync(fd, bytes.length - Buffer.byteLength(lines.at(-1)!) - 1);
}

function caseOf(line: string): string | undefined {
  try {
    const { task, meta } = JSON.parse(line) as Trace;
    return task?.id === undefined ? undefined : caseKey({ id: task.id, cell: meta.cell as Cell | undefined });
  } catch {
    return undefined;
  }
}

function readJournal(path: string): { header: JournalHeader; entries: JournalEntry[] } {
  const text = readFileSync(path, 'utf8');
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean);
  const [header, ...entries] = lines.map((line, index) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      throw new UserError('RUN_DAMAGED', `${path}:${index + 1} is not JSON: the stored run is damaged`);
    }
  });
  if ((header as JournalHeader | undefined)?.schema !== JOURNAL_SCHEMA) {
    throw new UserError('RUN_DAMAGED', `${path} does not start with a ${JOURNAL_SCHEMA} header`);
  }
  return { header: header as JournalHeader, entries: entries as JournalEntry[] };
}

/** A run as found on disk. */
export interface StoredRun {
  readonly id: string;
  readonly header: JournalHeader;
  readonly finished: boolean;
}

/**
 * All runs, the one that was worked on last first. Ids begin with the time, so names sort by age; a run that was resumed is
 * as new as that. A folder that is not a run is passed over.
 */
export function listRuns(root: string): StoredRun[] {
  if (!existsSync(root)) return [];
  const runs: StoredRun[] = [];
  const ages = new Map(readdirSync(root).map((id) => [id, resumedAt(join(root, id)) ?? id]));
  const newer = (a: string, b: string): number => (ages.get(a)! < ages.get(b)! ? 1 : -1);
  for (const id of [...ages.keys()].sort(newer)) {
    const journal = join(root, id, 'results.jsonl');
    if (!existsSync(journal)) continue;
    const header = readHeader(journal);
    if (header) runs.push({ id, header, finished: existsSync(join(root, id, 'run.json')) });
  }
  return runs;
}

const resumedPath = (dir: string): string => join(dir, 'resumed');

/** When a run was resumed, in the form that ids begin with. */
function resumedAt(dir: string): string | undefined {
  try {
    return readFileSync(resumedPath(dir), 'utf8')
      .trim()
      .replace(/[-:.Z]/g, '')
      .replace('T', '-');
  } catch {
    return undefined;
  }
}

function readHeader(journal: string): JournalHeader | undefined {
  try {
    const fd = openSync(journal, 'r');
    const head = Buffer.alloc(MAX_HEADER_BYTES);
    const bytes = readSync(fd, head);
    closeSync(fd);
    const text = head.toString('utf8', 0, bytes);
    const header = JSON.parse(text.slice(0, text.indexOf('\n'))) as JournalHeader;
    return header.schema === JOURNAL_SCHEMA ? header : undefined;
  } catch {
    return undefined;
  }
}

/** The finished result of a stored run. */
export function readRun(root: string, id: string): RunResult {
  const path = join(root, id, 'run.json');
  if (!existsSync(path)) {
    throw new UserError('RUN_MISSING', `there is no finished run "${id}" under ${root}`, { hint: nearestRuns(root) });
  }
  const run = readJson(path) as RunResult;
  const journaled = new Map(
    readJournal(journalPath(join(root, id))).entries.map((entry) => [
      caseKey({ id: entry.id, cell: entry.result.cell }),
      entry.result,
    ]),
  );
  return {
    ...run,
    results: run.results.map((result) => (result.status === undefined ? journaled.get(caseKey(result))! : result)),
  };
}

/** What a result in the journal is found by. */
const nameOf = ({ id, cell }: QueryResult): CaseName => (cell === undefined ? { id } : { id, cell });

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError('RUN_DAMAGED', `${path} cannot be read: ${(error as Error).message}`, {
      hint: 'The stored run is damaged: delete its folder, or run again.',
    });
  }
}

/** Size and time of every file: enough to notice that recordings are not what they were, without reading them again. */
function stateOf(path: string, seen: Set<string> = new Set()): string {
  const facts = factsOf(path);
  // A link to nowhere is not read, so it has no state.
  if (facts === undefined) return 'gone';
  if (!facts.isDirectory()) return `${facts.size}@${facts.mtimeMs}`;
  // A link back to a folder above would be followed for ever.
  const folder = realpathSync(path);
  if (seen.has(folder)) return 'seen';
  seen.add(folder);
  return readdirSync(path)
    .sort()
    .map((name) => `${name}=${stateOf(join(path, name), seen)}`)
    .join(';');
}

function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The recordings of a stored run, to be read like any other: its own, or the ones it was made from. */
export function tracesOf(root: string, id: string): string {
  const path = join(root, id, 'traces');
  const note = join(root, id, 'recordings.json');
  if (existsSync(note)) {
    const { path: source, state } = readJson(note) as { path: string; state?: string };
    if (existsSync(source)) {
      if (state === undefined || state === stateOf(source)) return source;
      throw new UserError('RUN_RECORDINGS_CHANGED', `the recordings in ${source} have changed since run "${id}"`, {
        hint: `Judge what is there now with --traces ${source}`,
      });
    }
    throw new UserError(
      'RUN_RECORDINGS_GONE',
      `run "${id}" judged the recordings in ${source}, which are no longer there`,
    );
  }
  if (!existsSync(path))
    throw new UserError('RUN_MISSING', `there is no run "${id}" under ${root}`, { hint: nearestRuns(root) });
  return path;
}

function nearestRuns(root: string): string {
  const ids = listRuns(root)
    .slice(0, 3)
    .map((run) => run.id);
  return ids.length === 0 ? 'Nothing has been run here yet.' : `The newest are: ${ids.join(', ')}`;
}

/** Enough to get past runs of single queries; older verdicts are of another time. */
const MAX_LOOKED_AT = 50;

/**
 * By `caseKey`, the last verdict on each query of a spec, from finished and unfinished runs: a run of a few queries says nothing about
 * the others.
 */
export function latestVerdicts(
  root: string,
  isOurs: (run: StoredRun) => boolean,
): { id: string; results: Map<string, QueryResult> } | undefined {
  const runs = listRuns(root).filter(isOurs).slice(0, MAX_LOOKED_AT);
  const [latest] = runs;
  if (!latest) return undefined;
  const results = new Map<string, QueryResult>();
  for (const { id, finished } of runs) {
    const found = finished
      ? readRun(root, id).results
      : readJournal(journalPath(join(root, id))).entries.map((entry) => ({ ...entry.result, id: entry.id }));
    for (const result of found) {
      const key = caseKey(result);
      if (!results.has(key)) results.set(key, result);
    }
  }
  return { id: latest.id, results };
}
