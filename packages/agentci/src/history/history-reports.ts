import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine, plural } from '@agentci/lib/text';
import { type Cell, caseText, misdatedRuns, runTime } from '@agentci/results';
import {
  costsBy,
  FlakyTally,
  findFirstBad,
  historyRoot,
  PERIODS,
  type Period,
  suiteTrend,
} from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { specFolder } from '../stored-runs/spec-folders.ts';
import type { Action } from './history-actions.ts';
import {
  type ChosenSeries,
  chosenRuns,
  chosenSeries,
  type HistoryOptions,
  queriesOfAgentRun,
} from './place.ts';
import { type OfSpec, type QueryTrends, queryTrends } from './query-trends.ts';
import { costText, firstBadText, flakyText, listText, trendText, unreadText } from './text.ts';

export const LISTED = 20;

/** Number of runs to read when looking for flaky queries. */
export const FLAKY_RUNS = 100;

const branchOf = ({ branch }: ChosenSeries): { branch?: string } =>
  branch === undefined ? {} : { branch };

/** The answer of an action, as JSON and as text. */
interface HistoryReport {
  readonly data: unknown;
  readonly text: () => string;
  readonly code?: number;
}

const report = (data: unknown, text: () => string): HistoryReport => ({ data, text });

/** The report of each action of `agentci history`. */
export const HISTORY_REPORTS: Readonly<
  Record<
    Action,
    (
      options: HistoryOptions,
      operands: readonly string[],
      io: Io,
    ) => HistoryReport | Promise<HistoryReport>
  >
> = {
  list: (options, _, io) => list(options, io),
  trend: (options, [query], io) => trend(options, query, io),
  flaky: (options, _, io) => flaky(options, io),
  'first-bad': (options, [query], io) => firstBad(options, query, io),
  cost: (options, _, io) => cost(options, io),
  import: importPast,
  sql: sqlRows,
  export: (options, _, io) => exportTable(options, io),
};

function list(options: HistoryOptions, io: Io): HistoryReport {
  const { runs, unreadLines } = chosenRuns({ ...options, last: options.last ?? LISTED }, io);
  const misdated = misdatedRuns(runs, runTime(new Date(io.now()).toISOString()));
  const marked = runs.map((run, at) => (misdated.has(at) ? { ...run, misdated: true } : run));
  return report({ schema: 'agentci.history/1', runs: marked, ...unreadOf(unreadLines) }, () =>
    listText(runs, misdated),
  );
}

function trend(options: HistoryOptions, query: string | undefined, io: Io): HistoryReport {
  const chosen = chosenSeries(options, io);
  const about = {
    schema: 'agentci.history/1',
    ...branchOf(chosen),
    ...unreadOf(chosen.unreadLines),
  };
  if (query === undefined) {
    if (options.cell !== undefined)
      throw new UserError('OPTION_INVALID', '--cell is about one query, and none is named', {
        hint: 'agentci history trend QUERY --cell name=value',
      });
    const found = chosen.series.map(({ agent, spec, runs }) => ({
      agent,
      spec,
      ...suiteTrend(runs),
    }));
    return report(
      { ...about, ...alone(found) },
      () => `${chosen.note}${eachText(found, query, (trend) => trendText(trend, query))}`,
    );
  }
  const found = queryTrends(query, chosen, options, io);
  const textOf = ({ cases }: QueryTrends): string =>
    eachCellText(
      cases,
      query,
      (trend, name) =>
        `${cases.length === 1 ? '' : `\n${escapeTerminalLine(name)}\n`}${trendText(trend, name)}`,
    );
  return report(
    { ...about, query, ...alone(found.map(aloneInCell)) },
    () => `${chosen.note}${eachText(found, query, textOf)}`,
  );
}

function flaky(options: HistoryOptions, io: Io): HistoryReport {
  const chosen = chosenSeries({ ...options, last: options.last ?? FLAKY_RUNS }, io);
  const { root, series } = chosen;
  const tally = new FlakyTally();
  const runs = series.flatMap((each) => each.runs);
  const unread: string[] = [];
  for (const run of runs) {
    const { queries, isCut } = queriesOfAgentRun(root, run, io);
    tally.add(run.run, queries);
    if (isCut) unread.push(run.run.id);
  }
  const found = tally.report();
  return report(
    {
      schema: 'agentci.history/1',
      ...branchOf(chosen),
      ...unreadOf(chosen.unreadLines, unread),
      runs: runs.length,
      ...found,
    },
    () =>
      `${chosen.note}${flakyText(found, { runs: runs.length, isOfSeveral: series.length > 1 })}${unreadText(unread, 'and what is missing is not counted')}`,
  );
}

function firstBad(options: HistoryOptions, query: string | undefined, io: Io): HistoryReport {
  if (query === undefined)
    throw new UserError('OPTION_INVALID', 'first-bad needs the id of a query');
  const chosen = chosenSeries(options, io);
  const found = queryTrends(query, chosen, options, io).map(({ cases, ...of }) => ({
    ...of,
    cases: cases.map(({ cell, points, unread, newest_unread }) => ({
      cell,
      ...findFirstBad(points, { isNewestUnread: newest_unread === true }),
      unread,
    })),
  }));
  return report(
    {
      schema: 'agentci.history/1',
      ...branchOf(chosen),
      ...unreadOf(chosen.unreadLines),
      query,
      ...alone(found.map(aloneInCell)),
    },
    () =>
      `${chosen.note}${eachText(found, query, ({ cases }) => eachCellText(cases, query, (each, name) => firstBadText(each, name, chosen)))}`,
  );
}

function cost(options: HistoryOptions, io: Io): HistoryReport {
  const by = (options.by ?? 'week') as Period;
  if (!PERIODS.includes(by))
    throw new UserError('OPTION_INVALID', `--by: "${by}" is not a period`, {
      hint: `periods: ${PERIODS.join(', ')}`,
    });
  const { runs } = chosenRuns(options, io);
  const live = runs.filter(({ recorded }) => recorded !== true);
  const recorded = runs.length - live.length;
  const costs = costsBy(by, live);
  const note =
    recorded === 0 ? '' : `${plural(recorded, 'run')} judged recordings, which costs nothing\n`;
  return report(
    { schema: 'agentci.history/1', by, periods: costs, recorded_runs: recorded },
    () => `${costText(costs, by)}${note}`,
  );
}

async function importPast(
  { config }: HistoryOptions,
  paths: readonly string[],
  io: Io,
): Promise<HistoryReport> {
  if (paths.length === 0) throw new UserError('OPTION_INVALID', 'import needs folders or files');
  const { importRuns } = await import('./import.ts');
  const outcome = importRuns(historyRoot(specFolder(config, io)), paths, io);
  const { imported, known, completed, skipped, shards } = outcome;
  for (const why of skipped) io.stderr.write(`agentci: skipped: ${escapeTerminalLine(why)}\n`);
  if (shards > 0)
    io.stderr.write(
      `agentci: ${plural(shards, 'shard')} left out: the merged run counts. If there is none yet, make it with agentci merge\n`,
    );
  return {
    data: outcome,
    text: () =>
      `${plural(imported, 'run')} imported, ${known} known already${completed === 0 ? '' : `, ${completed} of them completed`}\n`,
    code: skipped.length > 0 && imported + known === 0 ? 2 : 0,
  };
}

async function sqlRows(
  options: HistoryOptions,
  [sql = '']: readonly string[],
  io: Io,
): Promise<HistoryReport> {
  if (isBlankSql(sql)) throw new UserError('OPTION_INVALID', 'sql needs a statement, in quotes');
  const asked = chosenRuns(options, io);
  const { queryHistory } = await import('./duckdb.ts');
  const { columns, rows, unread } = await queryHistory(asked, sql, io);
  io.stderr.write(unreadText(unread, NOT_IN_TABLE));
  const lines = [columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))];
  return report(
    rows,
    () => `${lines.map((line) => line.map(escapeTerminalLine).join('\t')).join('\n')}\n`,
  );
}

async function exportTable(options: HistoryOptions, io: Io): Promise<HistoryReport> {
  if (options.parquet === undefined)
    throw new UserError('OPTION_INVALID', 'export needs --parquet FILE');
  const asked = chosenRuns(options, io);
  const { exportParquet } = await import('./duckdb.ts');
  const unread = await exportParquet(asked, resolve(io.cwd, options.parquet), io);
  io.stderr.write(
    `written: ${escapeTerminalLine(options.parquet)}\n${unreadText(unread, NOT_IN_TABLE)}`,
  );
  return report(undefined, () => '');
}

const NOT_IN_TABLE = 'and what is missing is in no row';

/** Only comments and blanks. */
const isBlankSql = (sql: string): boolean =>
  sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|[\s;]/g, '') === '';

/** The unreadable parts of a history, if any. */
const unreadOf = (lines: number, runs: readonly string[] = []) => ({
  unread_lines: lines !== 0 ? lines : undefined,
  unread: runs.length !== 0 ? runs : undefined,
});

/** The single finding if there is one spec, otherwise a list. */
const alone = <T extends OfSpec>(found: readonly T[]): T | { readonly specs: readonly T[] } =>
  found.length === 1 ? found[0]! : { specs: found };

/** The findings on a query: a list if it has several cells. */
const aloneInCell = <T extends { readonly cell?: Cell }>({
  cases,
  ...of
}: OfSpec & { readonly cases: readonly T[] }) =>
  cases.length === 1
    ? { ...of, ...cases[0]! }
    : { ...of, cells: cases.map((each) => ({ ...each, cell: each.cell ?? null })) };

/** Joins the texts of several cells. */
function eachCellText<T extends { readonly cell?: Cell }>(
  cases: readonly T[],
  id: string,
  textOf: (each: T, name: string) => string,
): string {
  if (cases.length === 1) return textOf(cases[0]!, caseText({ id, ...cases[0]! }));
  // Runs from before the spec had a matrix have the query without cells.
  const parts = cases.map((each) =>
    textOf(each, each.cell === undefined ? `${id} (no cell)` : caseText({ id, ...each })),
  );
  return `"${escapeTerminalLine(id)}" has ${cases.length} cells; --cell name=value chooses\n${parts.join('')}`;
}

/** Adds a heading per spec if there are several. */
function eachText<T extends OfSpec>(
  found: readonly T[],
  query: string | undefined,
  textOf: (each: T) => string,
): string {
  if (found.length === 1) return textOf(found[0]!);
  const what =
    query === undefined ? 'there are runs of' : `"${escapeTerminalLine(query)}" is a query of`;
  const parts = found.map(
    (each) => `\n${escapeTerminalLine(`${each.agent} (${each.spec})`)}\n${textOf(each)}`,
  );
  return `${what} ${plural(found.length, 'agent or spec', 'agents or specs')}; -c and --agent choose one\n${parts.join('')}`;
}

const cellOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);
