import { caseKey, placeOf } from '@agentci/results';
import type { HistoryQuery, HistoryRun } from './history-run.ts';

/**
 * One run of an agent. Judging its recordings again is not another run: the new judgement replaces
 * the verdicts, and the run keeps its position in time.
 */
export interface AgentRun {
  /**
   * Its numbers: from the newest judgement of all queries, with the id, time and commit of the
   * agent's run.
   */
  readonly run: HistoryRun;
  /** All judgements of it, newest first. */
  readonly judgements: readonly HistoryRun[];
}

/** The runs of agents behind the lines of a history, oldest first. Each counts once. */
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

/** Sorts items by their run, oldest first. */
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
 * The queries of a run, each with its newest verdict. A judgement of some queries leaves the others
 * unchanged, and a judgement without a verdict keeps the previous one.
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

/** The runs of one agent with one spec. Queries of different specs may have the same id. */
export interface Series {
  readonly agent: string;
  readonly spec: string;
  readonly runs: readonly AgentRun[];
}

/** Groups runs by agent and spec, in the order of their first runs. */
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
