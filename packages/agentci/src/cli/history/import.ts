import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { appendRuns, isSafeId, readRuns } from '../../history/history-files.ts';
import {
  type HistoryQuery,
  type HistoryRun,
  historyQuery,
  historyRun,
  isHistoryQuery,
  isHistoryRun,
} from '../../history/history-run.ts';
import { isObject } from '../../kit/object.ts';
import { UserError } from '../../kit/user-error.ts';
import { plural } from '../../kit/words.ts';
import { RESULTS_SCHEMA, type RunResult } from '../../results/run-result.ts';
import { type JudgedRun, journalPath, readHeader } from '../../store/journal.ts';
import { isPart, readRun } from '../../store/stored-runs.ts';
import type { Io } from '../io.ts';
import { isZip, removeUnpacked, unpackZip } from '../unpack-zip.ts';

const MAX_DEPTH = 8;
const MAX_REPORT_BYTES = 512 * 1024 * 1024;

interface Imported {
  readonly run: HistoryRun;
  readonly queries: readonly HistoryQuery[];
}

/** Something that can be imported. */
interface Source {
  readonly place: string;
  readonly read: () => Imported[];
}

/** What an import came to. */
export interface ImportOutcome {
  readonly imported: number;
  /** Runs that the history has already. */
  readonly known: number;
  /** Files and folders that look like runs and cannot be read, and why. */
  readonly skipped: readonly string[];
}

/**
 * Takes runs of other machines into the history: run folders, JSON reports, other histories, in folders of any layout.
 * Shards are left out: their merged run counts.
 */
export function importRuns(root: string, paths: readonly string[], io: Io): ImportOutcome {
  const known = new Set(readRuns(root).lines.map(({ id }) => id));
  const skipped: string[] = [];
  let imported = 0;
  let before = 0;
  for (const given of paths) {
    const path = resolve(io.cwd, given);
    if (!existsSync(path)) throw new UserError('INPUT_MISSING', `there is no file or folder "${given}"`);
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
        const fresh = runs.filter(({ run }) => !known.has(run.id));
        before += runs.length - fresh.length;
        if (fresh.length > 0) appendRuns(root, fresh);
        for (const { run } of fresh) known.add(run.id);
        imported += fresh.length;
      } catch (error) {
        const { message } = error as Error;
        skipped.push(message.includes(place) ? message : `${place} cannot be read: ${message}`);
      }
    }
    if (found === 0)
      skipped.push(
        shards === 0
          ? `${given} has no run in it`
          : `${given} has ${plural(shards, 'shard')} and no whole run in it: join them with agentci merge first`,
      );
  }
  return { imported, known: before, skipped };
}

/** Everything in a folder that can be imported; each is read when its turn comes. */
function* sourcesIn(path: string, depth: number): Generator<Source | 'shard'> {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!facts.isDirectory()) {
    if (isZip(path)) {
      yield* sourcesInZip(path, depth);
      return;
    }
    if (depth === 0 || path.endsWith('.json')) {
      if (depth === 0 || looksLikeReport(path)) yield { place: path, read: () => [fromReport(path, facts.mtime)] };
    }
    return;
  }
  if (existsSync(join(path, 'results.jsonl'))) {
    yield existsSync(join(path, 'shard.json')) ? 'shard' : { place: path, read: () => [fromFolder(path)] };
    return;
  }
  if (existsSync(join(path, 'runs.jsonl'))) {
    yield { place: path, read: () => fromHistory(path) };
    return;
  }
  if (depth === MAX_DEPTH) return;
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)))
    if (!entry.isSymbolicLink() && entry.name !== 'node_modules') yield* sourcesIn(join(path, entry.name), depth + 1);
}

/** What is in an artifact; it is unpacked as long as its turn lasts. */
function* sourcesInZip(path: string, depth: number): Generator<Source | 'shard'> {
  let dir: string;
  try {
    dir = unpackZip(path, path);
  } catch (error) {
    yield {
      place: path,
      read: () => {
        throw error;
      },
    };
    return;
  }
  try {
    yield* sourcesIn(dir, depth + 1);
  } finally {
    removeUnpacked(dir);
  }
}

/** Other JSON files beside a report are passed over. */
function looksLikeReport(path: string): boolean {
  if (statSync(path).size > MAX_REPORT_BYTES) return false;
  return readFileSync(path, 'utf8').slice(0, 4096).includes(`"${RESULTS_SCHEMA}"`);
}

function fromFolder(dir: string): Imported {
  if (!existsSync(join(dir, 'run.json'))) throw new Error(`${dir} was not finished`);
  const header = readHeader(journalPath(dir));
  const run = readRun(dirname(dir), basename(dir));
  const isRecorded = existsSync(join(dir, 'recordings.json'));
  const { started_at: at = '', commit, branch, judges, shard_runs: shardRuns } = header ?? {};
  const about = { isRecorded, at, commit, branch, judges, shardRuns };
  return entryOf(run, { ...about, isPart: header !== undefined && isPart(header) }, dir);
}

function fromReport(path: string, mtime: Date): Imported {
  const run = parsedReport(path);
  if (!isObject(run) || run.schema !== RESULTS_SCHEMA || !Array.isArray(run.results) || !isObject(run.summary))
    throw new Error(`${path} is not a JSON report of agentci`);
  if (run.shard !== undefined) throw new Error(`${path} is the report of a shard; import that of the merged run`);
  return entryOf(run as unknown as RunResult, { at: mtime.toISOString(), isPart: false }, path);
}

function parsedReport(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new Error(`${path} is neither a JSON report, a run folder nor a zip file of them`);
  }
}

function fromHistory(dir: string): Imported[] {
  return readRuns(dir).lines.map((run) => {
    const path = join(dir, `${run.id}.jsonl`);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const queries = text.split('\n').flatMap((line) => {
      try {
        const query: unknown = JSON.parse(line);
        return isHistoryQuery(query) ? [query] : [];
      } catch {
        return [];
      }
    });
    return { run, queries };
  });
}

/** What was made of it must have the shape of a history: the file may have been changed by anything. */
function entryOf(
  run: RunResult,
  about: {
    at: string;
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
  try {
    made = { run: historyRun(run, about), queries: run.results.map(historyQuery) };
  } catch (error) {
    throw new Error(`${place} is not a run of agentci: ${(error as Error).message}`);
  }
  if (!isHistoryRun(made.run) || !isSafeId(made.run.id) || !made.queries.every(isHistoryQuery))
    throw new Error(`${place} is not a run of agentci`);
  return made;
}
