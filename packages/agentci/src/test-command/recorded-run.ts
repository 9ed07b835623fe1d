import { UserError } from '@agentci/lib/problems';
import { andMore, escapeTerminalLine } from '@agentci/lib/text';
import type { QueryResult } from '@agentci/results';
import { type CaseName, caseKey, caseText } from '@agentci/results';
import { readRun, type StoredRun } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { isOn, type LatestOptions, storedRunId, storedRuns } from '../stored-runs/stored-run.ts';
import type { Asked } from './prepare-tests.ts';

/** Maximum number of runs to read. People rarely keep more. */
const MAX_LOOKED_AT = 200;

/** Required number of recordings per query. */
interface Wanted {
  readonly name: CaseName;
  readonly runs: number;
}

/**
 * Finds the newest stored run with the requested recordings: every query with all its repeats.
 * Prefers runs on this branch. A query without recordings in any run does not affect the choice,
 * and a message names it. If every run has too few repeats of a query, throws, because fewer
 * repeats prove less.
 */
export function latestWithRecordings(
  root: string,
  options: LatestOptions,
  { suite, queries, runsOf }: Asked,
  io: Io,
): string {
  const candidates = storedRuns(root, options).slice(0, MAX_LOOKED_AT);
  if (candidates.length === 0) return storedRunId(root, 'latest', options);
  const wanted = queries
    .filter(({ skip }) => skip === undefined)
    .map((query): Wanted => ({ name: query, runs: runsOf(query) }));
  const here = candidates.filter(isOn(options.branch));
  const counts = new Map<string, ReadonlyMap<string, number>>();
  const countsOf = ({ id }: StoredRun): ReadonlyMap<string, number> => {
    const known = counts.get(id) ?? recordedIn(root, id);
    counts.set(id, known);
    return known;
  };
  const has =
    (needed: readonly Wanted[]) =>
    (run: StoredRun): boolean =>
      lacking(needed, countsOf(run)).length === 0;
  const whole = here.find(has(wanted)) ?? candidates.find(has(wanted));
  if (whole !== undefined) return whole.id;
  const there = wanted.filter(({ name }) =>
    candidates.some((run) => (countsOf(run).get(caseKey(name)) ?? 0) > 0),
  );
  const best = here.find(has(there)) ?? candidates.find(has(there));
  const newest = here[0] ?? candidates[0]!;
  if (there.length === 0 || best === undefined)
    throw new UserError(
      'RUN_RECORDINGS_GONE',
      `--run latest: no stored run of ${suite.file} has all recordings asked for. The newest, ${newest.id}, lacks ${missingText(lacking(wanted, countsOf(newest)))}`,
      {
        hint: 'Run agentci test, choose fewer with --ids or -n, or name a run: --run ID judges what it has.',
      },
    );
  io.stderr.write(
    `agentci: run ${best.id} lacks recordings, as does every other: ${escapeTerminalLine(missingText(lacking(wanted, countsOf(best))))}\n`,
  );
  return best.id;
}

interface Lack extends Wanted {
  readonly found: number;
}

const lacking = (wanted: readonly Wanted[], counts: ReadonlyMap<string, number>): Lack[] =>
  wanted.flatMap((each) => {
    const found = counts.get(caseKey(each.name)) ?? 0;
    return found < each.runs ? [{ ...each, found }] : [];
  });

const missingText = (lacks: readonly Lack[]): string =>
  andMore(
    lacks.map(({ name, runs, found }) =>
      found === 0
        ? JSON.stringify(caseText(name))
        : `${JSON.stringify(caseText(name))} (${found} of ${runs} runs)`,
    ),
    5,
  );

/** Number of agent runs per query of a stored run, by `caseKey`. */
function recordedIn(root: string, id: string): ReadonlyMap<string, number> {
  try {
    return new Map(
      readRun(root, id).results.map((result) => [caseKey(result), timesAsked(result)]),
    );
  } catch {
    // A damaged run has no reliable recordings.
    return new Map();
  }
}

/** A crash counts as an agent run. A query that was not reached, or had no recording, does not. */
const timesAsked = (result: QueryResult): number => {
  if (result.not_run !== undefined || result.skip !== undefined) return 0;
  if (result.runs === undefined) return Number(wasAsked(result));
  return result.runs.filter(wasAsked).length;
};

const NOT_ASKED: ReadonlySet<unknown> = new Set(['budget', 'shard', 'trace']);
const wasAsked = ({ error }: Pick<QueryResult, 'error'>): boolean => !NOT_ASKED.has(error?.kind);
