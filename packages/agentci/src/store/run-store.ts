import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../kit/user-error.ts';
import type { QueryResult, RunResult } from '../results/run-result.ts';
import type { Trace } from '../trace/model.ts';
import { writeFileAtomic } from './atomic-write.ts';

const JOURNAL_SCHEMA = 'agentci.journal/1';
const MAX_HEADER_BYTES = 64 * 1024;

/** The first line of a journal: which spec the run belongs to, so that only the same one resumes it. */
export interface JournalHeader {
  readonly schema: typeof JOURNAL_SCHEMA;
  readonly run_id: string;
  readonly agent: string;
  readonly spec: { readonly file: string; readonly hash: string };
  readonly started_at: string;
}

/** A finished run of a query, as the journal keeps it. */
export interface JournalEntry {
  readonly id: string;
  readonly run: number;
  readonly result: QueryResult;
}

/** `<root>/<run-id>/`: `results.jsonl` (one line per finished run of a query), `traces/traces.jsonl`, `run.json` (written last). */
export class RunStore {
  readonly #dir: string;
  #journal: number | undefined;
  #traces: number | undefined;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static create(root: string, header: Omit<JournalHeader, 'schema'>): RunStore {
    const store = new RunStore(join(root, header.run_id));
    mkdirSync(join(store.#dir, 'traces'), { recursive: true });
    store.#journal = openSync(store.#journalPath, 'wx');
    store.#traces = openSync(store.#tracesPath, 'wx');
    append(store.#journal, { schema: JOURNAL_SCHEMA, ...header });
    return store;
  }

  /** Opens an unfinished run to go on with it. A line cut off by a kill is dropped: its query was not finished. */
  static reopen(root: string, runId: string): { store: RunStore; entries: JournalEntry[] } {
    const store = new RunStore(join(root, runId));
    const { entries } = readJournal(store.#journalPath);
    store.#journal = openAtLastLine(store.#journalPath);
    store.#traces = openAtLastLine(store.#tracesPath);
    return { store, entries };
  }

  get #journalPath(): string {
    return join(this.#dir, 'results.jsonl');
  }

  get #tracesPath(): string {
    return join(this.#dir, 'traces', 'traces.jsonl');
  }

  get dir(): string {
    return this.#dir;
  }

  /** Handed to the operating system before it returns, trace first: a kill afterwards loses nothing. */
  record(entry: JournalEntry, trace: Trace | undefined): void {
    if (this.#journal === undefined || this.#traces === undefined) throw new Error('the run store is closed');
    if (trace) append(this.#traces, trace);
    append(this.#journal, entry);
  }

  finish(run: RunResult): void {
    writeFileAtomic(join(this.#dir, 'run.json'), `${JSON.stringify(run)}\n`);
    this.close();
  }

  close(): void {
    if (this.#journal !== undefined) closeSync(this.#journal);
    if (this.#traces !== undefined) closeSync(this.#traces);
    this.#journal = undefined;
    this.#traces = undefined;
  }
}

function append(fd: number, value: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

function openAtLastLine(path: string): number {
  const fd = openSync(path, 'a+');
  const bytes = readFileSync(path);
  ftruncateSync(fd, bytes.lastIndexOf(0x0a) + 1);
  return fd;
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

/** All runs, newest first. Ids begin with the time, so names sort by age. A folder that is no run is passed over. */
export function listRuns(root: string): StoredRun[] {
  if (!existsSync(root)) return [];
  const runs: StoredRun[] = [];
  for (const id of readdirSync(root).sort().reverse()) {
    const journal = join(root, id, 'results.jsonl');
    if (!existsSync(journal)) continue;
    const header = readHeader(journal);
    if (header) runs.push({ id, header, finished: existsSync(join(root, id, 'run.json')) });
  }
  return runs;
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
  return JSON.parse(readFileSync(path, 'utf8')) as RunResult;
}

/** The recordings of a stored run, to be read like any other. */
export function tracesOf(root: string, id: string): string {
  const path = join(root, id, 'traces');
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

/** Results of the newest run of a spec, finished or not, by query id. */
export function latestResults(
  root: string,
  specFile: string,
): { id: string; results: Map<string, QueryResult> } | undefined {
  const latest = listRuns(root).find((run) => run.header.spec.file === specFile);
  if (!latest) return undefined;
  const results = new Map<string, QueryResult>();
  if (latest.finished) for (const result of readRun(root, latest.id).results) results.set(result.id, result);
  else
    for (const entry of readJournal(join(root, latest.id, 'results.jsonl')).entries)
      results.set(entry.id, entry.result);
  return { id: latest.id, results };
}
