import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { maskText } from '../kit/secrets.ts';
import { makeFolder } from '../mcp/make-folder.ts';
import { type HistoryQuery, type HistoryRun, isHistoryQuery, isHistoryRun } from './history-run.ts';

/** Runs whose lines are kept; the oldest go when there are a tenth more. */
const MAX_RUNS = 20_000;
/** A line is some 400 bytes. */
const MAX_RUNS_BYTES = 16 * 1024 * 1024;
/** Runs whose queries are kept one by one. */
const MAX_QUERY_FILES = 1000;
const MAX_QUERY_BYTES = 512 * 1024 * 1024;
const LOCK_WAIT_MS = 3000;
/** A process that holds the lock for longer was killed. */
const LOCK_STALE_MS = 10_000;

export const historyRoot = (folder: string): string => join(folder, '.agentci', 'history');
const runsPath = (root: string): string => join(root, 'runs.jsonl');

/** Ids become names of files: anything else than these characters could lead out of the folder. */
export const isSafeId = (id: string): boolean => /^[\w][\w.-]{0,127}$/.test(id);

/** What was read, and how many lines could not be. */
export interface Lines<T> {
  readonly lines: readonly T[];
  readonly damaged: number;
}

/**
 * Adds runs to the history: first their queries, each run in a file of its own, then the line that makes the run known. A
 * kill in between leaves a file that the next run of this id replaces.
 */
export function appendRuns(
  root: string,
  runs: readonly { readonly run: HistoryRun; readonly queries: readonly HistoryQuery[] }[],
): void {
  makeFolder(root);
  // A history is of one machine, or of a cache: committed, it would change with every run.
  if (!existsSync(join(root, '.gitignore'))) writeFileSync(join(root, '.gitignore'), '*\n');
  for (const { run, queries } of runs) {
    const path = queriesPath(root, run.id);
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, maskText(queries.map((query) => `${JSON.stringify(query)}\n`).join('')));
    renameSync(temporary, path);
  }
  const unlock = lock(root);
  try {
    appendLines(
      runsPath(root),
      runs.map(({ run }) => maskText(JSON.stringify(run))),
    );
    if (unlock !== undefined) prune(root);
  } finally {
    unlock?.();
  }
}

const queriesPath = (root: string, id: string): string => join(root, `${id}.jsonl`);

/** In one write at the end of the file, so that lines of two processes do not mix. Half a line of a killed one is ended first. */
function appendLines(path: string, lines: readonly string[]): void {
  const fd = openSync(path, 'a+');
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    const isCut = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
    const bytes = Buffer.from(`${isCut ? '\n' : ''}${lines.map((line) => `${line}\n`).join('')}`);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  } finally {
    closeSync(fd);
  }
}

/**
 * All runs, the oldest first. Of two lines with one id the later counts, and of two merges that share a shard the one with the newest: a
 * shard that was run again, or was late, makes the run whole and not another one. A run that a clock dated ahead comes where it arrived.
 */
export function readRuns(root: string, now = Date.now()): Lines<HistoryRun> {
  const path = runsPath(root);
  const { lines, damaged } = readLinesOf(path, isHistoryRun);
  const byId = new Map<string, HistoryRun>();
  for (const run of lines) if (isSafeId(run.id)) byId.set(run.id, run);
  const runs = withoutEarlierMerges(atArrival(byId, new Date(now).toISOString())).sort((a, b) =>
    a.at === b.at ? Number(a.id > b.id) - Number(a.id < b.id) : a.at < b.at ? -1 : 1,
  );
  return { lines: runs, damaged };
}

/**
 * Runs that say they are of a later time than they can be get the latest that it can be: right before the first run that found them here, or
 * else before the next line that is not ahead itself.
 */
function atArrival(byId: ReadonlyMap<string, HistoryRun>, now: string): HistoryRun[] {
  const runs = [...byId.values()];
  const foundBy = new Map<string, HistoryRun[]>();
  const note = (id: string, run: HistoryRun): void => {
    if (run.at < (byId.get(id)?.at ?? '')) foundBy.set(id, [...(foundBy.get(id) ?? []), run]);
  };
  let next: HistoryRun | undefined;
  for (const run of runs.toReversed()) {
    for (const id of run.ahead ?? []) note(id, run);
    if (run.at <= now) next = run;
    else if (next !== undefined) note(run.id, next);
  }
  if (foundBy.size === 0) return runs;
  const timeOf = ({ id, at }: HistoryRun): string => {
    const first = foundBy.get(id)?.map(timeOf).sort()[0];
    return first === undefined ? at : new Date(Date.parse(first) - 1).toISOString();
  };
  return runs.map((run) => {
    const at = timeOf(run);
    const judged = run.judges === undefined ? undefined : byId.get(run.judges.run);
    return {
      ...run,
      ...(at === run.at ? {} : { at, dated: run.at }),
      ...(judged === undefined || !foundBy.has(judged.id) ? {} : { judges: { ...run.judges!, at: timeOf(judged) } }),
    };
  });
}

/** The runs of a history that say they are of a later time than now, and those of them that no run has found there before. */
export function runsAhead(
  root: string,
  now: number,
): { readonly ids: readonly string[]; readonly fresh: readonly string[] } {
  const path = runsPath(root);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const at = new Date(now).toISOString();
  // Lines begin like this. Parsing thousands of them takes longer than many a run.
  const ids = [...text.matchAll(/^\{"id":"([^"]+)","at":"([^"]+)"/gm)].flatMap(([, id, time]) =>
    time! > at ? [id!] : [],
  );
  if (ids.length === 0) return { ids, fresh: ids };
  const found = new Set(readLinesOf(path, isHistoryRun).lines.flatMap(({ ahead = [] }) => ahead));
  return { ids: [...new Set(ids)].slice(-MAX_AHEAD), fresh: [...new Set(ids)].filter((id) => !found.has(id)) };
}

const MAX_AHEAD = 200;

function withoutEarlierMerges(runs: readonly HistoryRun[]): HistoryRun[] {
  const byShard = new Map<string, HistoryRun>();
  const replaced = new Set<HistoryRun>();
  for (const run of runs)
    for (const shard of run.shard_runs ?? []) {
      const other = byShard.get(shard);
      const [kept, left] = other === undefined || isNewerMerge(run, other) ? [run, other] : [other, run];
      byShard.set(shard, kept);
      if (left !== undefined && left !== kept) replaced.add(left);
    }
  return replaced.size === 0 ? [...runs] : runs.filter((run) => !replaced.has(run));
}

/** Names of runs begin with the time. */
function isNewerMerge({ shard_runs: a = [] }: HistoryRun, { shard_runs: b = [] }: HistoryRun): boolean {
  const [newestA = '', newestB = ''] = [[...a].sort().at(-1), [...b].sort().at(-1)];
  return newestA === newestB ? a.length >= b.length : newestA > newestB;
}

/** The queries of a run; undefined where they are no longer kept. */
export function readQueries(root: string, id: string): Lines<HistoryQuery> | undefined {
  return isSafeId(id) && existsSync(queriesPath(root, id))
    ? readLinesOf(queriesPath(root, id), isHistoryQuery)
    : undefined;
}

function readLinesOf<T>(path: string, is: (line: unknown) => line is T): Lines<T> {
  if (!existsSync(path)) return { lines: [], damaged: 0 };
  const lines: T[] = [];
  let damaged = 0;
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    if (text === '') continue;
    try {
      const line: unknown = JSON.parse(text);
      if (is(line)) lines.push(line);
      else damaged++;
    } catch {
      damaged++;
    }
  }
  return { lines, damaged };
}

/** Keeps the history to a size, the newest runs first. */
function prune(root: string): void {
  const path = runsPath(root);
  if (
    statSync(path).size > MAX_RUNS_BYTES ||
    (statSync(path).size > 200 * MAX_RUNS && readRuns(root).lines.length > 1.1 * MAX_RUNS)
  ) {
    const kept = readRuns(root).lines.slice(-MAX_RUNS);
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, kept.map((run) => `${JSON.stringify(run)}\n`).join(''));
    renameSync(temporary, path);
  }
  const files = readdirSync(root).filter((name) => name.endsWith('.jsonl') && name !== 'runs.jsonl');
  if (files.length <= MAX_QUERY_FILES / 10) return;
  // Names begin with the time.
  let bytes = 0;
  for (const [at, name] of files.sort().reverse().entries()) {
    bytes += statSync(join(root, name), { throwIfNoEntry: false })?.size ?? 0;
    if (at >= MAX_QUERY_FILES || bytes > MAX_QUERY_BYTES) rmSync(join(root, name), { force: true });
  }
}

/** Keeps two processes from writing at the same time. Undefined where the other does not finish: adding a line is safe all the same. */
function lock(root: string): (() => void) | undefined {
  const path = join(root, 'lock');
  const release = (): void => rmSync(path, { force: true });
  const until = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      closeSync(openSync(path, 'wx'));
      return release;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
    }
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LOCK_STALE_MS) release();
    else if (Date.now() > until) return undefined;
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}
