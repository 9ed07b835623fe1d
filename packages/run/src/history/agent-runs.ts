import { caseKey, placeOf } from '@agentci/results';
import type { HistoryQuery, HistoryRun } from './history-run.ts';

/**
 * One run of an agent. To judge its recordings again is not to run it again: the judgement replaces the verdicts it gives, and
 * the run stays where it was in time.
 */
export interface AgentRun {
  /** Its numbers: of the newest judgement of all queries, with the id, time and commit of the run of the agent. */
  readonly run: HistoryRun;
  /** All verdicts on it, the newest first. */
  readonly judgements: readonly HistoryRun[];
}

/** The runs of agents that lines of a history are about, the oldest first; each counts once. */
export function agentRuns(lines: readonly HistoryRun[]): AgentRun[] {
  const byId = new Map<string, HistoryRun[]>();
  for (const line of lines) {
    const id = line.judges?.run ?? line.id;
    const known = byId.get(id);
    if (known === undefined) byId.set(id, [line]);
    else known.push(line);
  }
  return inOrder(
    [...byId].map(([id, found]) => agentRun(id, found)),
    ({ run }) => run,
  );
}

/** Sorts what is about runs, the oldest first. */
export function inOrder<T>(items: readonly T[], runOf: (item: T) => HistoryRun): T[] {
  const placed = items.map((item) => ({ item, run: runOf(item), place: placeOf(runOf(item)) }));
  const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);
  return placed
    .sort(
      (a, b) =>
        compare(a.place, b.place) || compare(a.run.at, b.run.at) || compare(a.run.id, b.run.id),
    )
    .map(({ item }) => item);
}

function agentRun(id: string, lines: readonly HistoryRun[]): AgentRun {
  const judgements = lines.length === 1 ? lines : inOrder(lines, (line) => line).reverse();
  const { judges: _, ...shown } = judgements.find(({ part }) => part !== true) ?? judgements[0]!;
  const own = lines.find((line) => line.judges === undefined);
  const { at, order, commit } = own ?? judgements[0]!.judges!;
  const { order: __, commit: ___, ...numbers } = shown;
  return { run: { ...numbers, id, at, order, commit }, judgements };
}

/**
 * The queries of a run, each with its newest verdict: a judgement of some of them says nothing about the others, and one that
 * could not tell leaves what was known.
 */
export function latestQueries(
  { judgements }: AgentRun,
  read: (run: HistoryRun) => readonly HistoryQuery[],
): readonly HistoryQuery[] {
  if (judgements.length === 1) return read(judgements[0]!);
  const found = new Map<string, HistoryQuery>();
  for (const judgement of judgements)
    for (const query of read(judgement)) {
      const key = caseKey(query);
      const known = found.get(key);
      if (known === undefined || (known.decided === 0 && query.decided > 0)) found.set(key, query);
    }
  return [...found.values()];
}

/** The runs of one agent by one spec. Queries of different ones may have the same id. */
export interface Series {
  readonly agent: string;
  readonly spec: string;
  readonly runs: readonly AgentRun[];
}

/** Keeps agents and specs apart, in the order in which they were first run. */
export function seriesOf(runs: readonly AgentRun[]): Series[] {
  const found = new Map<string, { agent: string; spec: string; runs: AgentRun[] }>();
  for (const each of runs) {
    const { agent, spec } = each.run;
    const key = JSON.stringify([agent, spec]);
    const known = found.get(key);
    if (known === undefined) found.set(key, { agent, spec, runs: [each] });
    else known.runs.push(each);
  }
  return [...found.values()];
}
