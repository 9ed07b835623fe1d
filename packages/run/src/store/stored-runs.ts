import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import type { CheckStatus, QueryResult, RunResult } from '@agentci/results';
import {
  caseKey,
  caseText,
  placeAfter,
  resultFault,
  runTime,
  type SeenRun,
} from '@agentci/results';
import {
  type JournalHeader,
  type JudgedRun,
  journalPath,
  readHeader,
  readJournal,
} from './journal.ts';
import { stateOf } from './recording-state.ts';
import { readResumed } from './resumed-note.ts';

/** A run found on disk. */
export interface StoredRun {
  readonly id: string;
  readonly header: JournalHeader;
  readonly finished: boolean;
  /** Its position among the runs. Usually its name, which begins with the time. */
  readonly age: string;
  /** The run in which the agent ran: the run that this one judges again, or itself. */
  readonly agentRun: string;
  /** The position of that run. */
  readonly ranAt: string;
}

/**
 * All runs, most recent agent run first. A new judgement does not run the agent, so it is listed
 * with the run it judges, before it. Sorted by position (`results/run-order.ts`), which is updated
 * when a run is resumed. Skips folders that are not runs.
 */
export function listRuns(root: string): StoredRun[] {
  if (!isFolder(root)) return [];
  const found = new Map<string, FoundRun>();
  for (const id of readdirSync(root)) {
    const journal = join(root, id, 'results.jsonl');
    if (!existsSync(journal)) continue;
    const header = readHeader(journal);
    if (header === undefined) continue;
    const { place, startedWith = header.started_with } = readResumed(join(root, id)) ?? {};
    const age = place ?? header.order ?? id;
    const finished = existsSync(join(root, id, 'run.json'));
    found.set(id, {
      id,
      header: { ...header, started_with: startedWith },
      age,
      finished,
    });
  }
  const places = placesOf(found);
  const runs = [...found.values()].map((run): StoredRun => {
    const agentRun = agentRunOf(run.id, found);
    const ranAt = places.get(agentRun) ?? run.header.judges?.order ?? agentRun;
    return { ...run, age: places.get(run.id)!, agentRun, ranAt };
  });
  const newer = (a: string, b: string): number => {
    if (a === b) return 0;
    if (a < b) return 1;
    return -1;
  };
  return runs.sort((a, b) => newer(a.ranAt, b.ranAt) || newer(a.age, b.age));
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

type FoundRun = Omit<StoredRun, 'agentRun' | 'ranAt'>;

/**
 * Headers of older versions have no `order`, only earlier runs with later dates. They sort after
 * those.
 */
function placesOf(found: ReadonlyMap<string, FoundRun>): Map<string, string> {
  const places = new Map<string, string>();
  const placeOfRun = ({ id, age, header }: FoundRun): string => {
    const known = places.get(id);
    if (known !== undefined) return known;
    places.set(id, age);
    const before = (header.order === undefined ? (header.ahead ?? []) : []).flatMap(
      (other) => found.get(other) ?? [],
    );
    const last = before.map(placeOfRun).sort().at(-1) ?? '';
    if (last > age) places.set(id, placeAfter(last));
    return places.get(id)!;
  };
  for (const run of found.values()) placeOfRun(run);
  return places;
}

/**
 * The stored runs, reduced to the fields that determine the position of a new run. `known` are ids
 * to skip.
 */
export function seenInStore(root: string, known: ReadonlySet<string>): SeenRun[] {
  if (!isFolder(root)) return [];
  return readdirSync(root).flatMap((id): SeenRun[] => {
    const header = known.has(id) ? undefined : readHeader(journalPath(join(root, id)));
    if (header === undefined) return [];
    return [
      {
        id,
        place: readResumed(join(root, id))?.place ?? header.order ?? id,
        time: runTime(header.started_at),
      },
    ];
  });
}

function agentRunOf(id: string, runs: ReadonlyMap<string, Pick<StoredRun, 'header'>>): string {
  const { judges, started_with: { traces } = {} } = runs.get(id)?.header ?? {};
  if (judges !== undefined) return judges.run;
  const judged = typeof traces === 'string' ? OWN_TRACES.exec(traces)?.groups?.run : undefined;
  // Names sort by age and a run judges an older one, so this ends.
  return judged !== undefined && judged < id && runs.has(judged) ? agentRunOf(judged, runs) : id;
}

/** The path of a stored run's recordings, in headers that do not name the run. */
const OWN_TRACES = /(?:^|[\\/])(?<run>[^\\/]+)[\\/]traces[\\/]?(?:traces\.jsonl)?$/;

/** The agent's run behind a stored run: for a judgement, the run it judges. */
export function judgedRun(dir: string): JudgedRun | undefined {
  const header = readHeader(journalPath(dir));
  if (header === undefined) return undefined;
  const { judges, run_id, started_at, commit } = header;
  const order = readResumed(dir)?.place ?? header.order;
  return judges ?? { run: run_id, at: started_at, order, commit };
}

/** The stored run that recordings belong to. Undefined for other recordings. */
export function runWithTraces(path: string): JudgedRun | undefined {
  const file = basename(path) === 'traces.jsonl' ? dirname(path) : path;
  return basename(file) === 'traces' ? judgedRun(dirname(file)) : undefined;
}

/** The finished result of a stored run. */
export function readRun(root: string, id: string): RunResult {
  const path = join(root, id, 'run.json');
  if (!existsSync(path)) {
    const isThere = existsSync(journalPath(join(root, id)));
    throw new UserError(
      'RUN_MISSING',
      isThere
        ? `run "${id}" under ${root} was not finished: it has no run.json`
        : `there is no finished run "${id}" under ${root}`,
      { hint: nearestRuns(root, ({ finished }) => finished) },
    );
  }
  const run = readJson(path) as RunResult;
  if (!isObject(run) || !Array.isArray(run.results) || !run.results.every(isObject))
    throw damaged(`${path} has no list of results`);
  const journal = journalPath(join(root, id));
  if (!existsSync(journal)) throw damaged(`${journal} is gone`);
  const journaled = new Map(
    readJournal(journal).entries.map((entry) => [
      caseKey({ id: entry.id, cell: entry.result.cell }),
      entry.result,
    ]),
  );
  const results = run.results.map((result) => {
    const found = result.status === undefined ? journaled.get(caseKey(result)) : result;
    if (found === undefined)
      throw damaged(`${journal} lacks the result of ${JSON.stringify(caseText(result))}`);
    return found;
  });
  const fault = resultFault({ ...run, results });
  if (fault !== undefined) throw damaged(`${path} ${fault}`);
  return { ...run, results };
}

const damaged = (what: string): UserError =>
  new UserError('RUN_DAMAGED', `${what}: the stored run is damaged`, {
    hint: 'Delete its folder, or run again.',
  });

/** Whether a stored run is unreadable because its files are truncated or missing. */
export const isDamage = (error: unknown): error is UserError =>
  error instanceof UserError && error.code === 'RUN_DAMAGED';

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError('RUN_DAMAGED', `${path} cannot be read: ${(error as Error).message}`, {
      hint: 'The stored run is damaged: delete its folder, or run again.',
    });
  }
}

/** The recordings of a stored run: its own, or those it was made from. */
export function tracesOf(root: string, id: string): string {
  const path = join(root, id, 'traces');
  const note = join(root, id, 'recordings.json');
  if (existsSync(note)) {
    const { path: source, state } = readJson(note) as { path: string; state?: string };
    if (existsSync(source)) {
      if (state === undefined || state === stateOf(source)) return source;
      throw new UserError(
        'RUN_RECORDINGS_GONE',
        `the recordings in ${source} have changed since run "${id}"`,
        {
          hint: `Judge the current files with --traces ${source}`,
        },
      );
    }
    throw new UserError(
      'RUN_RECORDINGS_GONE',
      `run "${id}" judged the recordings in ${source}, which are no longer there`,
    );
  }
  if (!existsSync(path))
    throw new UserError('RUN_MISSING', `there is no run "${id}" under ${root}`, {
      hint: nearestRuns(root),
    });
  return path;
}

function nearestRuns(root: string, isMeant: (run: StoredRun) => boolean = () => true): string {
  const runs = listRuns(root);
  const ids = runs
    .filter(isMeant)
    .slice(0, 3)
    .map((run) => run.id);
  if (ids.length > 0) return `The newest are: ${ids.join(', ')}`;
  return runs.length === 0 ? 'Nothing has been run here yet.' : 'No run here was finished.';
}

export interface LatestVerdicts {
  /** The newest run, and its position. */
  readonly id: string;
  readonly age: string;
  readonly results: ReadonlyMap<string, QueryResult>;
  /** By the same key, the position of the agent's run behind the verdict. */
  readonly ranAt: ReadonlyMap<string, string>;
  /** By the same key, that run. */
  readonly runs: ReadonlyMap<string, string>;
  /** The keys of verdicts from the newest run of all queries, or a newer run. */
  readonly current: ReadonlySet<string>;
  /** The position of the newest run of all queries. */
  readonly wholeAt?: string;
}

/** Many runs of a few queries can follow each other without a complete one. */
const MAX_LOOKED_AT = 1000;
/**
 * Number of runs to search beyond the newest complete run, for queries that it lacks: they may have
 * been removed from the spec and added again.
 */
const MAX_OLDER = 20;

/** By `caseKey`, the rules in the spec that decide when a case has its verdict. */
export type CaseRules = ReadonlyMap<
  string,
  { readonly runs: number; readonly xfail?: string | undefined; readonly skip?: string | undefined }
>;

/**
 * The verdicts in the journal of an unfinished run. A case with several runs has no verdict yet,
 * unless one of them went wrong. For an expected failure, wrong means passed.
 */
function unfinishedVerdicts(
  { header, entries }: ReturnType<typeof readJournal>,
  cases: CaseRules,
): QueryResult[] {
  return entries.flatMap((entry): QueryResult[] => {
    const rule = cases.get(caseKey({ id: entry.id, cell: entry.result.cell }));
    const status = rule?.xfail === undefined ? entry.result.status : turned(entry.result.status);
    const runs = header.started_with?.runs ?? rule?.runs ?? 1;
    return runs === 1 || status === 'fail' || status === 'error'
      ? [{ ...entry.result, id: entry.id, status }]
      : [];
  });
}

/** Maps the status of a run with an expected failure. */
const turned = (status: CheckStatus): CheckStatus => {
  if (status === 'fail') return 'skip';
  if (status === 'pass' || status === 'warn') return 'fail';
  return status;
};

/**
 * By `caseKey`, the last verdict on each query of a spec, from finished and unfinished runs. A run
 * of a few queries does not affect the others, and an early stop does not affect unreached queries.
 * Searches until each of `cases` has one, and at least to the newest run of all queries. Skips a
 * damaged run if `onDamaged` permits it.
 */
export function latestVerdicts(
  root: string,
  isOurs: (run: StoredRun) => boolean,
  cases: CaseRules = new Map(),
  { onDamaged = rethrow }: { readonly onDamaged?: (id: string, error: UserError) => void } = {},
): LatestVerdicts | undefined {
  const runs = listRuns(root).filter(isOurs).slice(0, MAX_LOOKED_AT);
  const [latest] = runs;
  if (!latest) return undefined;
  const results = new Map<string, QueryResult>();
  const ranAt = new Map<string, string>();
  const agentRuns = new Map<string, string>();
  const current = new Set<string>();
  const wanted = [...cases].filter(([, { skip }]) => skip === undefined).map(([key]) => key);
  let isCurrent = true;
  let older = 0;
  let wholeAt: string | undefined;
  for (const { id, agentRun, ranAt: at, finished, header } of runs) {
    let found: readonly QueryResult[];
    try {
      found = finished
        ? readRun(root, id).results
        : unfinishedVerdicts(readJournal(journalPath(join(root, id))), cases);
    } catch (error) {
      if (!isDamage(error)) throw error;
      onDamaged(id, error);
      continue;
    }
    let isWhole = finished && !isPart(header);
    for (const result of found) {
      const key = caseKey(result);
      // A query without a recording was not run.
      if (result.not_run !== undefined || (agentRun !== id && result.error?.kind === 'trace')) {
        isWhole = false;
        continue;
      }
      // A query that the spec skipped has no verdict from that run.
      if (result.skip === undefined && !results.has(key)) {
        results.set(key, result);
        ranAt.set(key, at);
        agentRuns.set(key, agentRun);
        if (isCurrent) current.add(key);
      }
    }
    if (isWhole) {
      isCurrent = false;
      wholeAt ??= at;
    }
    if (!isCurrent && (++older > MAX_OLDER || wanted.every((key) => results.has(key)))) break;
  }
  return {
    id: latest.id,
    age: latest.age,
    results,
    ranAt,
    runs: agentRuns,
    current,
    wholeAt,
  };
}

const rethrow = (_: string, error: UserError): never => {
  throw error;
};

const CHOOSING = ['ids', 'only', 'tags', 'filter', 'cell', 'shard'];

/** Whether a run covers only some queries. */
export const isPart = ({
  started_with: chosen = {},
}: Pick<JournalHeader, 'started_with'>): boolean =>
  CHOOSING.some((name) => chosen[name] !== undefined);
