import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { removeTemporaryFolder } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import {
  placeAfter,
  placeAmong,
  placeOf,
  RESULTS_SCHEMA,
  type RunResult,
  resultFault,
  runTime,
  summaryFault,
} from '@agentci/results';
import {
  appendRuns,
  type HistoryQuery,
  type HistoryRun,
  historyQuery,
  historyRun,
  isHistoryQuery,
  isHistoryRun,
  isPart,
  isSafeId,
  type JudgedRun,
  journalPath,
  MAX_QUERY_FILES,
  readAllRuns,
  readHeader,
  readQueries,
  readRun,
  readRuns,
} from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { isZip, unpackZip } from '../merge/unpack-zip.ts';

const MAX_DEPTH = 8;
const MAX_REPORT_BYTES = 512 * 1024 * 1024;

interface Imported {
  readonly run: HistoryRun;
  readonly queries: readonly HistoryQuery[];
}

/** An importable item. */
interface Source {
  readonly place: string;
  readonly read: () => Imported[];
}

/** The result of an import. */
export interface ImportOutcome {
  readonly imported: number;
  /** Runs already in the history, counted once across sources. */
  readonly known: number;
  /** Known runs that gained data. */
  readonly completed: number;
  /** Files and folders that look like runs but cannot be read, with the reason. */
  readonly skipped: readonly string[];
  /** Shards left out because their whole run exists. */
  readonly shards: number;
}

/**
 * Imports runs of other machines into the history from run folders, JSON reports and other
 * histories, in any folder layout. Shards are left out because their merged run counts.
 */
export function importRuns(root: string, paths: readonly string[], io: Io): ImportOutcome {
  const now = io.now();
  const known = new Map(readAllRuns(root, now).runs.map((run) => [run.id, run]));
  const skipped: string[] = [];
  const completed = new Set<string>();
  const had = new Set(known.keys());
  const before = new Set<string>();
  let imported = 0;
  let leftOut = 0;
  for (const given of paths) {
    const path = resolve(io.cwd, given);
    if (!existsSync(path)) throw new UserError('FILE_MISSING', `no file or folder "${given}"`);
    let found = 0;
    let shards = 0;
    for (const source of sourcesIn(path, 0)) {
      if (source === 'shard') {
        shards++;
        continue;
      }
      found++;
      const { place, read } = source;
      try {
        const runs = read();
        const fresh = placed(
          runs.filter(({ run }) => !known.has(run.id)),
          [...known.values()],
          now,
        );
        const fuller = runs.flatMap((each) => fullerThan(root, known, each) ?? []);
        for (const { run } of runs) if (had.has(run.id)) before.add(run.id);
        if (fresh.length + fuller.length > 0) appendRuns(root, [...fresh, ...fuller]);
        for (const { run } of [...fresh, ...fuller]) known.set(run.id, run);
        for (const { run } of fuller) if (had.has(run.id)) completed.add(run.id);
        imported += fresh.length;
      } catch (error) {
        const { message } = error as Error;
        skipped.push(message.includes(place) ? message : `${place} cannot be read: ${message}`);
      }
    }
    if (found > 0) leftOut += shards;
    else
      skipped.push(
        shards === 0
          ? `${given} has no run in it`
          : `${given} has ${plural(shards, 'shard')} and no whole run in it: join them with agentci merge first`,
      );
  }
  return { imported, known: before.size, completed: completed.size, skipped, shards: leftOut };
}

/**
 * New runs with their positions among the known runs. No run may be newer than now, whatever its
 * clock said. If the clocks leave the order open, a failed run counts as the later one, so that no
 * failure is lost.
 */
function placed(runs: readonly Imported[], known: readonly HistoryRun[], now: number): Imported[] {
  if (runs.length === 0) return [];
  const nowTime = runTime(new Date(now).toISOString());
  let latest = nowTime;
  const places = new Map<string, string>();
  for (const { run } of runs.toReversed()) {
    const place = placeOf(run);
    if (place > nowTime && runTime(run.at) < latest) latest = runTime(run.at);
    places.set(run.id, place > nowTime ? latest : place);
  }
  const seen = known.map((run) => ({ id: run.id, place: placeOf(run), time: runTime(run.at) }));
  let last = '';
  return runs.map(({ run: { ahead: _, ...run }, queries }) => {
    const own = places.get(run.id)!;
    const time = own > last ? own : placeAfter(last);
    const isBad = run.failed + run.errors > 0;
    const order = isBad ? placeAmong(seen, { time, now: nowTime }) : time;
    last = order;
    seen.push({ id: run.id, place: order, time: runTime(run.at) });
    return { run: { ...run, order }, queries };
  });
}

/** Fields of a known run that the source adds to the history. Undefined if there are none. */
function fullerThan(
  root: string,
  runs: ReadonlyMap<string, HistoryRun>,
  found: Imported,
): Imported | undefined {
  const known = runs.get(found.run.id);
  if (known === undefined) return undefined;
  const isEmpty = (value: unknown): boolean =>
    value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  const more = Object.entries(found.run).filter(
    ([name, value]) =>
      name !== 'order' &&
      name !== 'ahead' &&
      !isEmpty(value) &&
      isEmpty(known[name as keyof HistoryRun]),
  );
  const kept = readQueries(root, known.id);
  // A long history drops the queries of its oldest runs.
  const lacksQueries =
    kept === undefined ? runs.size < MAX_QUERY_FILES : kept.lines.length < found.queries.length;
  if (more.length === 0 && !lacksQueries) return undefined;
  return {
    run: { ...known, ...Object.fromEntries(more) },
    queries: lacksQueries ? found.queries : (kept?.lines ?? []),
  };
}

/** Everything importable in a folder, read lazily. */
function* sourcesIn(path: string, depth: number): Generator<Source | 'shard'> {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!facts.isDirectory()) {
    if (isZip(path)) {
      yield* sourcesInZip(path, depth);
      return;
    }
    if (depth > 0 && path.endsWith('.zip')) {
      yield unreadable(path, new Error(`${path} is not a zip file`));
      return;
    }
    if (depth === 0 || path.endsWith('.json')) {
      if (depth === 0 || looksLikeReport(path))
        yield { place: path, read: () => [fromReport(path, facts.mtime)] };
    }
    return;
  }
  if (existsSync(join(path, 'results.jsonl'))) {
    yield existsSync(join(path, 'shard.json'))
      ? 'shard'
      : { place: path, read: () => [fromFolder(path)] };
    return;
  }
  if (existsSync(join(path, 'runs.jsonl'))) {
    yield { place: path, read: () => fromHistory(path) };
    return;
  }
  if (depth === MAX_DEPTH) return;
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  ))
    if (!entry.isSymbolicLink() && entry.name !== 'node_modules')
      yield* sourcesIn(join(path, entry.name), depth + 1);
}

/** An item to report as skipped. */
const unreadable = (place: string, error: unknown): Source => ({
  place,
  read: () => {
    throw error;
  },
});

/** The content of an artifact, unpacked only during its turn. */
function* sourcesInZip(path: string, depth: number): Generator<Source | 'shard'> {
  let dir: string;
  try {
    dir = unpackZip(path, path);
  } catch (error) {
    yield unreadable(path, error);
    return;
  }
  try {
    yield* sourcesIn(dir, depth + 1);
  } finally {
    removeTemporaryFolder(dir);
  }
}

/** Skips other JSON files next to a report. */
function looksLikeReport(path: string): boolean {
  if (statSync(path).size > MAX_REPORT_BYTES) return false;
  return readFileSync(path, 'utf8').slice(0, 4096).includes(`"${RESULTS_SCHEMA}"`);
}

function fromFolder(dir: string): Imported {
  if (!existsSync(join(dir, 'run.json'))) throw new Error(`${dir} was not finished`);
  const header = readHeader(journalPath(dir));
  const run = readRun(dirname(dir), basename(dir));
  const isRecorded = existsSync(join(dir, 'recordings.json'));
  const {
    started_at: at = '',
    order,
    commit,
    branch,
    judges,
    shard_runs: shardRuns,
  } = header ?? {};
  const about = { isRecorded, at, order, commit, branch, judges, shardRuns };
  return entryOf(run, { ...about, isPart: header !== undefined && isPart(header) }, dir);
}

function fromReport(path: string, mtime: Date): Imported {
  const run = parsedReport(path);
  if (!isObject(run) || run.schema !== RESULTS_SCHEMA)
    throw new Error(`${path} is not a JSON report of agentci`);
  const fault = resultFault(run);
  if (fault !== undefined)
    throw new Error(`${path} is not a whole JSON report of agentci: it ${fault}`);
  if (run.shard !== undefined)
    throw new Error(`${path} is the report of a shard; import that of the merged run`);
  return entryOf(
    run as unknown as RunResult,
    { at: timeIn(run.run_id) ?? mtime.toISOString(), isPart: false },
    path,
  );
}

/** Parses the time at the start of an id. */
function timeIn(id: unknown): string | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)(\d{3})-/.exec(String(id)) ?? [];
  const [year, month, day, hour, minute, second, ms] = parts;
  const at = `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`;
  return Number.isFinite(Date.parse(at)) ? at : undefined;
}

function parsedReport(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new Error(`${path} is neither a JSON report, a run folder nor a zip file of them`);
  }
}

function fromHistory(dir: string): Imported[] {
  return readRuns(dir).lines.map((run) => ({
    run,
    queries: readQueries(dir, run.id)?.lines ?? [],
  }));
}

/** Validates the entry, because something may have changed the file. */
function entryOf(
  run: RunResult,
  about: {
    at: string;
    order?: string | undefined;
    commit?: string | undefined;
    branch?: string | undefined;
    isPart: boolean;
    isRecorded?: boolean;
    judges?: JudgedRun | undefined;
    shardRuns?: readonly string[] | undefined;
  },
  place: string,
): Imported {
  let made: Imported;
  let fault: string | undefined;
  try {
    fault = summaryFault(run);
    made = { run: historyRun(run, about), queries: run.results.map(historyQuery) };
  } catch (error) {
    throw new Error(`${place} is not a run of agentci: ${(error as Error).message}`);
  }
  if (fault !== undefined) throw new Error(`${place} does not add up: it ${fault}`);
  if (!isHistoryRun(made.run) || !isSafeId(made.run.id) || !made.queries.every(isHistoryQuery))
    throw new Error(`${place} is not a run of agentci`);
  return made;
}
