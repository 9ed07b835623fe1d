import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { defined } from '../kit/defined.ts';
import { UserError } from '../kit/user-error.ts';
import { caseKey } from '../results/cell.ts';
import type { CheckStatus, QueryResult, RunResult } from '../results/run-result.ts';
import { runTime } from '../results/run-time.ts';
import { type JournalHeader, type JudgedRun, journalPath, readHeader, readJournal } from './journal.ts';
import { stateOf } from './recording-state.ts';
import { readResumed } from './resumed-note.ts';

/** A run as found on disk. */
export interface StoredRun {
  readonly id: string;
  readonly header: JournalHeader;
  readonly finished: boolean;
  /** When it was worked on last, in the form that ids begin with. */
  readonly age: string;
  /** The run in which the agent ran: the one that this one judges again, or itself. */
  readonly agentRun: string;
  /** When that was, in the same form. */
  readonly ranAt: string;
}

/**
 * All runs, the one in which the agent ran last first: to judge the recordings of a run again is not to run the agent again, so
 * the judgement is listed with that run, and first of the two. Ids begin with the time, so names sort by age; a
 * run that was resumed is as new as that. A run that a clock dated ahead of its time comes where it arrived. A folder that is not a run
 * is passed over.
 */
export function listRuns(root: string, now = Date.now()): StoredRun[] {
  if (!isFolder(root)) return [];
  const found = new Map<string, FoundRun>();
  for (const id of readdirSync(root)) {
    const journal = join(root, id, 'results.jsonl');
    if (!existsSync(journal)) continue;
    const header = readHeader(journal);
    if (!header) continue;
    const { at, startedWith = header.started_with } = readResumed(join(root, id)) ?? {};
    const age = at === undefined ? id : runTime(at.trim());
    const finished = existsSync(join(root, id, 'run.json'));
    found.set(id, { id, header: { ...header, ...defined({ started_with: startedWith }) }, age, finished });
  }
  const arrivals = arrivalsOf(root, found, runTime(new Date(now).toISOString()));
  const ageOf = (id: string): string => arrivals.get(id) ?? found.get(id)?.age ?? id;
  const runs = [...found.values()].map((run): StoredRun => {
    const agentRun = agentRunOf(run.id, found);
    return { ...run, age: ageOf(run.id), agentRun, ranAt: ageOf(agentRun) };
  });
  const newer = (a: string, b: string): number => (a === b ? 0 : a < b ? 1 : -1);
  return runs.sort((a, b) => newer(a.ranAt, b.ranAt) || newer(a.age, b.age));
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

type FoundRun = Omit<StoredRun, 'agentRun' | 'ranAt'>;

/**
 * When runs arrived that say they are of a later time than they can be: before the first run that found them there, though it is older by its
 * own clock; where there is none yet, when they were written.
 */
function arrivalsOf(root: string, found: ReadonlyMap<string, FoundRun>, now: string): Map<string, string> {
  const foundBy = new Map<string, FoundRun[]>();
  for (const run of found.values())
    for (const id of run.header.ahead ?? [])
      if (run.age < (found.get(id)?.age ?? '')) foundBy.set(id, [...(foundBy.get(id) ?? []), run]);
  const arrivals = new Map<string, string>();
  const arrivalOf = ({ id, age }: FoundRun): string => {
    const known = arrivals.get(id);
    if (known !== undefined) return known;
    const later = foundBy.get(id);
    const written = later === undefined && age > now ? writtenAt(join(root, id)) : age;
    // Without the end of its id, the name of a run sorts right before it.
    const arrival =
      later?.map((run) => arrivalOf(run).slice(0, now.length)).sort()[0] ?? (written > now ? age : written);
    if (arrival !== age) arrivals.set(id, arrival);
    return arrival;
  };
  for (const run of found.values()) arrivalOf(run);
  return arrivals;
}

const writtenAt = (dir: string): string => runTime(statSync(journalPath(dir)).mtime.toISOString());

/** Runs that are there already and say they are of a later time than now: a clock was ahead. */
export function runsAhead(root: string, now: number): string[] {
  const time = runTime(new Date(now).toISOString());
  if (!isFolder(root)) return [];
  return readdirSync(root)
    .filter((id) => RUN_ID.test(id) && id.slice(0, time.length) > time && existsSync(journalPath(join(root, id))))
    .slice(0, MAX_AHEAD);
}

const RUN_ID = /^\d{8}-\d{9}-/;
/** They are named in the header of a journal, which is a line of some size. */
const MAX_AHEAD = 200;

function agentRunOf(id: string, runs: ReadonlyMap<string, Pick<StoredRun, 'header'>>): string {
  const { judges, started_with: { traces } = {} } = runs.get(id)?.header ?? {};
  if (judges !== undefined) return judges.run;
  const judged = typeof traces === 'string' ? OWN_TRACES.exec(traces)?.groups?.run : undefined;
  // Names sort by age and a run judges an older one, so this ends.
  return judged !== undefined && judged < id && runs.has(judged) ? agentRunOf(judged, runs) : id;
}

/** The recordings of a stored run, as headers name them that do not say which run it is. */
const OWN_TRACES = /(?:^|[\\/])(?<run>[^\\/]+)[\\/]traces[\\/]?(?:traces\.jsonl)?$/;

/** The run of the agent that a stored run is: of a judgement, the one that was judged. */
export function judgedRun(dir: string): JudgedRun | undefined {
  const header = readHeader(journalPath(dir));
  if (header === undefined) return undefined;
  const { judges, run_id, started_at, commit } = header;
  return judges ?? { run: run_id, at: started_at, ...(commit === undefined ? {} : { commit }) };
}

/** The stored run that recordings belong to; undefined for recordings from elsewhere. */
export function runWithTraces(path: string): JudgedRun | undefined {
  const file = basename(path) === 'traces.jsonl' ? dirname(path) : path;
  return basename(file) === 'traces' ? judgedRun(dirname(file)) : undefined;
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

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError('RUN_DAMAGED', `${path} cannot be read: ${(error as Error).message}`, {
      hint: 'The stored run is damaged: delete its folder, or run again.',
    });
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

export interface LatestVerdicts {
  /** The newest run. */
  readonly id: string;
  readonly results: ReadonlyMap<string, QueryResult>;
  /** By the same key, when the agent ran that the verdict is about, in the form that ids begin with. */
  readonly ranAt: ReadonlyMap<string, string>;
  /** The keys of those that come from the newest run of all queries, or a newer one. */
  readonly current: ReadonlySet<string>;
}

/** Runs of a few queries can follow each other for long without one of all of them. */
const MAX_LOOKED_AT = 1000;
/** Past the newest run of all queries, for those that were not in it: they may have been taken out of the spec and put back. */
const MAX_OLDER = 20;

/** By `caseKey`, what the spec says of cases that decides when their verdict is there. */
export type CaseRules = ReadonlyMap<string, { readonly runs: number; readonly xfail?: string | undefined }>;

/**
 * What the journal of a run without an end says. A case that is run several times has no verdict yet, unless one of its runs went wrong:
 * where a failure is expected, that is one that passed.
 */
function unfinishedVerdicts({ header, entries }: ReturnType<typeof readJournal>, cases: CaseRules): QueryResult[] {
  return entries.flatMap((entry): QueryResult[] => {
    const rule = cases.get(caseKey({ id: entry.id, cell: entry.result.cell }));
    const status = rule?.xfail === undefined ? entry.result.status : turned(entry.result.status);
    const runs = header.started_with?.runs ?? rule?.runs ?? 1;
    return runs === 1 || status === 'fail' || status === 'error' ? [{ ...entry.result, id: entry.id, status }] : [];
  });
}

/** What becomes of the status of a run where a failure is expected. */
const turned = (status: CheckStatus): CheckStatus =>
  status === 'fail' ? 'skip' : status === 'pass' || status === 'warn' ? 'fail' : status;

/**
 * By `caseKey`, the last verdict on each query of a spec, from finished and unfinished runs: a run of a few queries says nothing about
 * the others, and one that stopped early says nothing about the queries it did not get to. Looks until each of `cases` has one,
 * or at least to the newest run of all queries.
 */
export function latestVerdicts(
  root: string,
  isOurs: (run: StoredRun) => boolean,
  cases: CaseRules = new Map(),
): LatestVerdicts | undefined {
  const runs = listRuns(root).filter(isOurs).slice(0, MAX_LOOKED_AT);
  const [latest] = runs;
  if (!latest) return undefined;
  const results = new Map<string, QueryResult>();
  const ranAt = new Map<string, string>();
  const current = new Set<string>();
  let isCurrent = true;
  let older = 0;
  for (const { id, agentRun, ranAt: at, finished, header } of runs) {
    const found = finished
      ? readRun(root, id).results
      : unfinishedVerdicts(readJournal(journalPath(join(root, id))), cases);
    let isWhole = finished && !isPart(header);
    for (const result of found) {
      const key = caseKey(result);
      // What a run has no recording of was not run in it.
      if (result.not_run !== undefined || (agentRun !== id && result.error?.kind === 'trace')) {
        isWhole = false;
        continue;
      }
      if (!results.has(key)) {
        results.set(key, result);
        ranAt.set(key, at);
        if (isCurrent) current.add(key);
      }
    }
    if (isWhole) isCurrent = false;
    if (!isCurrent && (++older > MAX_OLDER || [...cases.keys()].every((key) => results.has(key)))) break;
  }
  return { id: latest.id, results, ranAt, current };
}

const CHOOSING = ['ids', 'only', 'tags', 'filter', 'cell', 'shard'];

/** Whether a run was of some queries only. */
export const isPart = ({ started_with: chosen = {} }: Pick<JournalHeader, 'started_with'>): boolean =>
  CHOOSING.some((name) => chosen[name] !== undefined);
