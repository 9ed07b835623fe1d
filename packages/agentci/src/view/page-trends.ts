import { present } from '@agentci/lib/data';
import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { plural } from '@agentci/lib/text';
import type { PageTrends } from '@agentci/results';
import { type CaseName, caseKey, caseText } from '@agentci/results';
import type { HistoryQuery, HistoryRun } from '@agentci/run';
import {
  type AgentRun,
  ALL_BRANCHES,
  agentRuns,
  chooseRuns,
  type Drift,
  FlakyTally,
  findFirstBad,
  isCut,
  latestQueries,
  queryTrend,
  readQueries,
  readRuns,
  seriesOf,
  suiteTrend,
  usualBranch,
} from '@agentci/run';

/** Maximum number of points. A screen cannot show more. */
const MAX_POINTS = 500;
/** Limits for runs whose queries are read, and for their lines. */
const MAX_RUNS = 100;
const MAX_LINES = 400_000;
const MAX_ROWS = 20;

/** Cache of the last answer, because a page polls while nothing changes. */
let last: { readonly key: string; readonly trends: PageTrends } | undefined;

/** Reads an agent's trends from the history. Undefined without runs of it. */
export function pageTrends(
  root: string,
  agent: string,
  { named, checkedOut }: { named: string | undefined; checkedOut: string | undefined },
): PageTrends | undefined {
  const { lines: known, damaged } = readRuns(root);
  const all = known.filter((run) => run.agent === agent);
  const branch = named === ALL_BRANCHES ? undefined : (named ?? usualBranch(all, checkedOut));
  const lines = chooseRuns(all, { branch });
  const newest = lines.at(-1);
  if (newest === undefined) return undefined;
  const key = JSON.stringify([root, agent, branch, newest.id, lines.length, damaged]);
  const runs = agentRuns(lines);
  if (last?.key !== key)
    last = { key, trends: readTrends({ root, agent, branch, all, runs, damaged }) };
  return last.trends;
}

function readTrends(input: {
  root: string;
  agent: string;
  branch: string | undefined;
  all: readonly HistoryRun[];
  runs: readonly AgentRun[];
  /** Number of unreadable lines in the history. */
  damaged: number;
}): PageTrends {
  const { root, agent, branch, all, runs, damaged } = input;
  const series = seriesOf(runs);
  const { spec } = runs.at(-1)!.run;
  const { points, drifts } = suiteTrend(series.find((each) => each.spec === spec)!.runs);
  // Specs of one agent may share query ids.
  const nameOf = (query: CaseName, of: string): string =>
    series.length === 1 ? caseText(query) : `${caseText(query)} (${of})`;
  const { seen, cut } = lastQueries(root, runs);
  const tally = new FlakyTally();
  for (const { run, queries } of seen) tally.add(run, queries);
  const { flaky, steady, too_few } = tally.report();
  return {
    agent,
    branch,
    branches: [...new Set(all.flatMap((run) => run.branch ?? []))].slice(-50),
    points: points.slice(-MAX_POINTS),
    drifts: present([
      series.length === 1
        ? undefined
        : `There are runs of ${series.length} specs. The charts show ${spec}.`,
      ...driftWords(drifts),
      ...damageWords(damaged, cut),
    ]),
    runs: seen.length,
    flaky: flaky.slice(0, MAX_ROWS).map((query) => ({
      name: nameOf(query, query.spec),
      passed: query.passed,
      decided: query.decided,
      interval: query.interval,
      flips: query.flips,
    })),
    steady,
    too_few,
    failing: failingNow(seen, nameOf),
  };
}

interface SeenRun {
  readonly run: HistoryRun;
  readonly queries: readonly HistoryQuery[];
}

/**
 * Queries of the newest runs, oldest first, as many as the limits allow, and the number of runs
 * with missing queries.
 */
function lastQueries(
  root: string,
  runs: readonly AgentRun[],
): { readonly seen: SeenRun[]; readonly cut: number } {
  const seen: SeenRun[] = [];
  let cut = 0;
  let lines = 0;
  for (const run of runs.slice(-MAX_RUNS).reverse()) {
    let isWhole = true;
    const queries = latestQueries(run, (judgement) => {
      const read = readQueries(root, judgement.id);
      if (isCut(judgement, read)) isWhole = false;
      return read?.lines ?? [];
    });
    lines += queries.length;
    if (lines > MAX_LINES && seen.length > 0) break;
    if (!isWhole) cut++;
    if (queries.length > 0) seen.push({ run: run.run, queries });
  }
  return { seen: seen.reverse(), cut };
}

/** Warnings about damaged or missing history files. */
const damageWords = (damaged: number, cut: number): string[] =>
  present([
    damaged === 0
      ? undefined
      : `${plural(damaged, 'line')} of the history cannot be read, so ${damaged === 1 ? 'a run' : 'some runs'} may be missing here.`,
    cut === 0
      ? undefined
      : `The queries of ${plural(cut, 'run')} are damaged or no longer kept: what failed or changed in ${cut === 1 ? 'it' : 'them'} may be missing below.`,
  ]);

/**
 * Queries that fail in their newest run, with the first failing run. Each cell of a matrix is
 * separate.
 */
function failingNow(
  seen: readonly SeenRun[],
  nameOf: (query: CaseName, spec: string) => string,
): PageTrends['failing'] {
  const keyOf = (query: CaseName, { spec }: HistoryRun): string =>
    JSON.stringify([spec, caseKey(query)]);
  const newest = new Map<
    string,
    { readonly name: string; readonly status: HistoryQuery['status'] }
  >();
  for (const { run, queries } of seen)
    for (const query of queries)
      if (query.decided > 0)
        newest.set(keyOf(query, run), { name: nameOf(query, run.spec), status: query.status });
  return [...newest]
    .filter(([, { status }]) => status === 'fail')
    .slice(0, MAX_ROWS)
    .flatMap(([key, { name }]) => {
      const own = seen.map(({ run, queries }) => ({
        run,
        query: queries.find((each) => keyOf(each, run) === key),
      }));
      const found = findFirstBad(queryTrend(own).points);
      if (found.verdict !== 'bad') return [];
      const { first, good, runs, flips } = found;
      return [
        {
          name,
          first: placeOf(first),
          good: good === undefined ? undefined : placeOf(good),
          runs,
          flips,
        },
      ];
    });
}

const placeOf = ({ run, at, commit }: { run: string; at: string; commit?: string }) => ({
  run,
  at,
  commit,
});

/** Confirmed changes. For an undecided change, the number of runs still needed. */
function driftWords(drifts: readonly Drift[]): string[] {
  const changed = drifts.flatMap((drift) => {
    if (drift.verdict !== 'up' && drift.verdict !== 'down') return [];
    const text = drift.of === 'cost' ? formatUsd : formatMs;
    return [
      `The ${drift.of} went permanently ${drift.verdict} with run ${drift.since}: ${text(drift.before)} before, ${text(drift.after)} since.`,
    ];
  });
  const early = drifts.flatMap((drift) => (drift.verdict === 'too_few_runs' ? [drift] : []));
  if (early.length === 0) return changed;
  const [{ runs, needed }] = early as [(typeof early)[0]];
  const what = early.map(({ of }) => of).join(' and ');
  return [
    ...changed,
    `It takes ${needed} runs of the whole suite to tell a lasting change of ${what}; there are ${runs}.`,
  ];
}
