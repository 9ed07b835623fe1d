import {
  closeSync,
  existsSync,
  fstatSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder, openFile, writeFile, writeFileAtomic } from '@agentci/lib/files';
import { maskText } from '@agentci/lib/secrets';
import { placeAfter, placeOf, runTime, type SeenRun } from '@agentci/results';
import { inOrder } from './agent-runs.ts';
import { type HistoryQuery, type HistoryRun, isHistoryQuery, isHistoryRun } from './history-run.ts';

/** Maximum number of runs in the list. The oldest are removed when it is 10 % over. */
const MAX_RUNS = 20_000;
/** A line has about 400 bytes. */
const MAX_RUNS_BYTES = 16 * 1024 * 1024;
/** Maximum number of runs whose queries are stored. */
export const MAX_QUERY_FILES = 1000;
const MAX_QUERY_BYTES = 512 * 1024 * 1024;
const LOCK_WAIT_MS = 3000;
/** A process that holds the lock for longer was killed. */
const LOCK_STALE_MS = 10_000;

export const historyRoot = (folder: string): string => join(folder, '.agentci', 'history');
const runsPath = (root: string): string => join(root, 'runs.jsonl');

/** Ids become file names. Other characters could escape the folder. */
export const isSafeId = (id: string): boolean => /^[\w][\w.-]{0,127}$/.test(id);

/** The parsed lines, and the number of unreadable ones. */
export interface Lines<T> {
  readonly lines: readonly T[];
  readonly damaged: number;
}

/**
 * Adds runs to the history: first a file with the queries of each run, then the line that lists the
 * run. If the process is killed in between, the next run with this id replaces the file.
 */
export function appendRuns(
  root: string,
  runs: readonly { readonly run: HistoryRun; readonly queries: Iterable<HistoryQuery> }[],
): void {
  makeFolder(root);
  // A history belongs to one machine or one cache. Committed, it would change with every run.
  const ignore = join(root, '.gitignore');
  if (!existsSync(ignore)) writeFile(ignore, '*\n');
  for (const { run, queries } of runs) {
    writeFileAtomic(queriesPath(root, run.id), queryLines(queries), { isSynced: false });
  }
  const unlock = lock(root);
  try {
    appendLines(
      runsPath(root),
      runs.map(({ run }) => maskText(lineOf(run))),
    );
    if (unlock !== undefined) prune(root);
  } finally {
    unlock?.();
  }
}

function* queryLines(queries: Iterable<HistoryQuery>): Generator<string> {
  for (const query of queries) yield `${JSON.stringify(query)}\n`;
}

/** Puts the fields that determine the order of runs first. */
const lineOf = ({ id, at, order, ...rest }: HistoryRun): string =>
  JSON.stringify({ id, at, order, ...rest });

/** The file with the queries of a run. */
export const queriesPath = (root: string, id: string): string => join(root, `${id}.jsonl`);

/**
 * Appends in a single write, so that lines of two processes do not mix. First ends a partial line
 * that a killed process left.
 */
function appendLines(path: string, lines: readonly string[]): void {
  const fd = openFile(path, 'a+');
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

/** The runs of a history, and the damage found in it. */
export interface HistoryLines extends Lines<HistoryRun> {
  /**
   * The runs listed after the last unreadable line, which are newer than it. Empty if all lines are
   * readable.
   */
  readonly belowDamage: ReadonlySet<string>;
  /** The run id of each unreadable line, if it can be recovered. */
  readonly unread: readonly (string | undefined)[];
}

/**
 * All runs, oldest first. Of two lines with the same id, the later one counts. Of two merges that
 * share a shard, the one with the newest shard counts, because a repeated or late shard completes
 * the run and does not make another one.
 */
export function readRuns(root: string, now = Date.now()): HistoryLines {
  const { runs, ...rest } = readAllRuns(root, now);
  return { ...rest, lines: inOrder(withoutEarlierMerges(runs), (run) => run) };
}

/** All runs in file order, with merges that a later one replaced. */
export function readAllRuns(
  root: string,
  now = Date.now(),
): Omit<HistoryLines, 'lines'> & { readonly runs: readonly HistoryRun[] } {
  const { lines, damaged, below, spoiled } = readLinesOf(runsPath(root), isHistoryRun);
  const byId = new Map<string, HistoryRun>();
  for (const run of lines) if (isSafeId(run.id)) byId.set(run.id, run);
  return {
    runs: withPlaces([...byId.values()], new Date(now).toISOString()),
    damaged,
    unread: spoiled.map((text) => /^\{"id":"([^"\\]+)"/.exec(text)?.[1]),
    belowDamage: new Set(damaged === 0 ? [] : lines.slice(below).map(({ id }) => id)),
  };
}

/**
 * Lines of older versions have no `order`. At most they list earlier runs with later dates. Such a
 * run comes after those, and after the lines above it that are dated in the future.
 */
function withPlaces(runs: readonly HistoryRun[], nowIso: string): readonly HistoryRun[] {
  if (!runs.some(({ at, ahead }) => ahead !== undefined || at > nowIso)) return runs;
  const now = runTime(nowIso);
  const places = new Map<string, string>();
  let future = '';
  return runs.map((run) => {
    const time = runTime(run.at);
    const known = (run.ahead ?? []).map((id) => places.get(id) ?? '');
    const last = [...known, time <= now ? future : ''].sort().at(-1)!;
    const place = run.order ?? (last < time ? time : placeAfter(last));
    places.set(run.id, place);
    if (time > now && place > future) future = place;
    return place === placeOf(run) ? run : { ...run, order: place };
  });
}

/** The runs of a history, reduced to the fields that determine the position of a new run. */
export function seenInHistory(root: string): SeenRun[] {
  const path = runsPath(root);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  // Every line begins like this. Parsing thousands of lines would take longer than many runs.
  const starts = [...text.matchAll(/^\{"id":"([^"]+)","at":"([^"]+)"(?:,"order":"([^"]+)")?/gm)];
  if (text.includes('"ahead":[') || starts.length < text.split('\n').length - 1)
    return readAllRuns(root).runs.map((run) => ({
      id: run.id,
      place: placeOf(run),
      time: runTime(run.at),
    }));
  return starts.map(([, id, at, order]) => ({
    id: id!,
    place: placeOf({ at: at!, order }),
    time: runTime(at!),
  }));
}

function withoutEarlierMerges(runs: readonly HistoryRun[]): readonly HistoryRun[] {
  const byShard = new Map<string, HistoryRun>();
  const replaced = new Set<HistoryRun>();
  for (const run of runs)
    for (const shard of run.shard_runs ?? []) {
      const other = byShard.get(shard);
      const [kept, left] =
        other === undefined || isNewerMerge(run, other) ? [run, other] : [other, run];
      byShard.set(shard, kept);
      if (left !== undefined && left !== kept) replaced.add(left);
    }
  return replaced.size === 0 ? runs : runs.filter((run) => !replaced.has(run));
}

/** Run ids begin with the time. */
function isNewerMerge(
  { shard_runs: a = [] }: HistoryRun,
  { shard_runs: b = [] }: HistoryRun,
): boolean {
  const [newestA = '', newestB = ''] = [[...a].sort().at(-1), [...b].sort().at(-1)];
  return newestA === newestB ? a.length >= b.length : newestA > newestB;
}

/** Whether queries of a run are unreadable or no longer stored. */
export const isCut = (run: HistoryRun, read: Lines<HistoryQuery> | undefined): boolean =>
  read === undefined || read.damaged > 0 || read.lines.length < run.total;

/**
 * Number of failed verdicts of a run that are missing from its stored queries, because the file is
 * gone or truncated.
 */
export function lostVerdicts(run: HistoryRun, read: Lines<HistoryQuery> | undefined): number {
  if (!isCut(run, read)) return 0;
  const bad =
    read?.lines.filter(({ status }) => status === 'fail' || status === 'error').length ?? 0;
  return Math.max(0, run.failed + run.errors - bad);
}

/** The queries of a run. Undefined if they are no longer stored. */
export function readQueries(root: string, id: string): Lines<HistoryQuery> | undefined {
  return isSafeId(id) && existsSync(queriesPath(root, id))
    ? readLinesOf(queriesPath(root, id), isHistoryQuery)
    : undefined;
}

interface LinesRead<T> extends Lines<T> {
  /** Number of lines before the last unreadable one. */
  readonly below: number;
  /** The unreadable lines. */
  readonly spoiled: readonly string[];
}

function readLinesOf<T>(path: string, is: (line: unknown) => line is T): LinesRead<T> {
  if (!existsSync(path)) return { lines: [], damaged: 0, below: 0, spoiled: [] };
  const lines: T[] = [];
  const spoiled: string[] = [];
  let below = 0;
  const spoil = (text: string): void => {
    spoiled.push(text);
    below = lines.length;
  };
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    if (text === '') continue;
    try {
      const line: unknown = JSON.parse(text);
      if (is(line)) lines.push(line);
      else spoil(text);
    } catch {
      spoil(text);
    }
  }
  return { lines, damaged: spoiled.length, below, spoiled };
}

/** Limits the size of the history and keeps the newest runs. */
function prune(root: string): void {
  const path = runsPath(root);
  if (
    statSync(path).size > MAX_RUNS_BYTES ||
    (statSync(path).size > 200 * MAX_RUNS && readRuns(root).lines.length > 1.1 * MAX_RUNS)
  ) {
    const kept = readRuns(root).lines.slice(-MAX_RUNS);
    writeFileAtomic(
      path,
      kept.map((run) => `${lineOf(run)}\n`),
      { isSynced: false },
    );
  }
  const files = readdirSync(root).filter(
    (name) => name.endsWith('.jsonl') && name !== 'runs.jsonl',
  );
  if (files.length <= MAX_QUERY_FILES / 10) return;
  const sizes = files.map(
    (name) => statSync(join(root, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  if (
    files.length <= MAX_QUERY_FILES &&
    sizes.reduce((sum, size) => sum + size, 0) <= MAX_QUERY_BYTES
  )
    return;
  const rank = new Map(readRuns(root).lines.map(({ id }, at) => [`${id}.jsonl`, at]));
  const newest = files
    // Another process may be about to add the line for a file without one.
    .map((name, at) => ({
      name,
      size: sizes[at]!,
      rank: rank.get(name) ?? Number.MAX_SAFE_INTEGER,
    }))
    .sort((a, b) => b.rank - a.rank);
  let bytes = 0;
  for (const [at, { name, size }] of newest.entries()) {
    bytes += size;
    if (at >= MAX_QUERY_FILES || bytes > MAX_QUERY_BYTES) rmSync(join(root, name), { force: true });
  }
}

/**
 * Prevents two processes from writing at the same time. Undefined if the other one does not finish,
 * because appending a line is safe anyway.
 */
function lock(root: string): (() => void) | undefined {
  const path = join(root, 'lock');
  const release = (): void => rmSync(path, { force: true });
  const until = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      closeSync(openFile(path, 'wx'));
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
