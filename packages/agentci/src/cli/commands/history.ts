import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { didYouMean, escapeTerminalLine, plural } from '@agentci/lib/text';
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
import {
  type ChosenSeries,
  chosenRuns,
  chosenSeries,
  type HistoryOptions,
  queriesOfAgentRun,
} from '../../history/place.ts';
import { type OfSpec, type QueryTrends, queryTrends } from '../../history/query-trends.ts';
import {
  costText,
  firstBadText,
  flakyText,
  listText,
  trendText,
  unreadText,
} from '../../history/text.ts';
import { specFolder } from '../../stored-runs/spec-folders.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { collect, someText, wholeNumber } from '../options.ts';

const ACTIONS = ['list', 'trend', 'flaky', 'first-bad', 'cost', 'import', 'sql', 'export'] as const;
type Action = (typeof ACTIONS)[number];
const LISTED = 20;
/** Queries of so many runs are read to look for flaky ones. */
const FLAKY_RUNS = 100;

export const command: CliCommand = {
  name: 'history',
  summary: 'list past runs, and say since when a query fails, flakes or costs more',
  configure: (parser) =>
    parser
      .argument('[action]', `${ACTIONS.join(', ')} (default: list)`)
      .argument(
        '[what...]',
        'trend, first-bad: the id of a query; import: folders and files; sql: a statement',
      )
      .option('-c, --config <file>', 'only runs of this spec; the history is beside it')
      .option(
        '--branch <name>',
        'only runs on this branch; "." is the one checked out, "*" all (trend, flaky, first-bad: the one checked out)',
        someText,
      )
      .option('--agent <name>', 'only runs of this agent', someText)
      .option(
        '--last <n>',
        `only the newest n runs (list: ${LISTED}, flaky: ${FLAKY_RUNS})`,
        wholeNumber(1),
      )
      .option(
        '--cell <name=value>',
        'trend, first-bad: only this value of the matrix (repeatable)',
        collect,
      )
      .option('--by <period>', 'cost: day, week or month (default: week)')
      .option('--parquet <file>', 'export: one row per query of every run; needs @duckdb/node-api')
      .option('--json', 'as JSON')
      .addHelpText(
        'after',
        `
Every finished run of test, eval and merge leaves a line in .agentci/history/runs.jsonl beside its spec, and a file with a
line per query. Rates come with a 95 % interval; where there are too few runs to say something, that is what it says.

Examples:
  agentci history
  agentci history trend refund
  agentci history flaky --last 50
  agentci history first-bad refund --branch main
  agentci history first-bad refund --cell model=a
  agentci history cost --by week
  agentci history import artifacts/
  agentci history sql "SELECT status, count(*) FROM queries GROUP BY status"`,
      ),
  run: async ({ args, options: given, io }) => {
    const options = given as HistoryOptions;
    const [action = 'list', ...what] = args;
    if (!ACTIONS.includes(action as Action)) {
      const near = didYouMean(action, ACTIONS);
      throw new UserError('HISTORY_ACTION', `history has no action "${action}"`, {
        hint: near === undefined ? `actions: ${ACTIONS.join(', ')}` : `Did you mean "${near}"?`,
      });
    }
    refuseUnused(action as Action, options, what);
    return RUN[action as Action](options, what, io);
  },
};

type OptionName = keyof HistoryOptions;
const CHOOSING: readonly OptionName[] = ['config', 'branch', 'agent', 'last', 'json'];

/** What each action looks at: how many operands at most, and which options. */
const TAKES: Readonly<
  Record<Action, { readonly operands: number; readonly options: readonly OptionName[] }>
> = {
  list: { operands: 0, options: CHOOSING },
  trend: { operands: 1, options: [...CHOOSING, 'cell'] },
  flaky: { operands: 0, options: CHOOSING },
  'first-bad': { operands: 1, options: [...CHOOSING, 'cell'] },
  cost: { operands: 0, options: [...CHOOSING, 'by'] },
  import: { operands: Number.POSITIVE_INFINITY, options: ['config', 'json'] },
  sql: { operands: 1, options: ['config', 'json'] },
  export: { operands: 0, options: ['config', 'parquet'] },
};

/** What is given and not looked at would leave a wrong idea of what the answer is about. */
function refuseUnused(action: Action, options: HistoryOptions, what: readonly string[]): void {
  const { operands, options: own } = TAKES[action];
  const extra = what[operands];
  if (extra !== undefined)
    throw new UserError(
      'HISTORY_USAGE',
      operands === 0
        ? `history ${action} takes no argument, and was given "${extra}"`
        : `history ${action} takes one argument, and was given "${extra}" as well`,
      {
        hint: 'trend and first-bad take the id of one query, import takes folders and files, sql one statement.',
      },
    );
  const unused = (Object.keys(options) as OptionName[]).find(
    (name) => options[name] !== undefined && !own.includes(name),
  );
  if (unused === undefined) return;
  const takers = ACTIONS.filter((each) => TAKES[each].options.includes(unused));
  throw new UserError('HISTORY_USAGE', `history ${action} does not take --${unused}`, {
    hint: `--${unused} belongs to: history ${takers.join(', ')}`,
  });
}

const branchOf = ({ branch }: ChosenSeries): { branch?: string } =>
  branch === undefined ? {} : { branch };

const RUN: Readonly<
  Record<
    Action,
    (options: HistoryOptions, what: readonly string[], io: Io) => number | Promise<number>
  >
> = {
  list: (options, _, io) => {
    const { runs, unreadLines } = chosenRuns({ ...options, last: options.last ?? LISTED }, io);
    const misdated = misdatedRuns(runs, runTime(new Date(io.now()).toISOString()));
    const marked = runs.map((run, at) => (misdated.has(at) ? { ...run, misdated: true } : run));
    return print(
      io,
      options,
      { schema: 'agentci.history/1', runs: marked, ...unreadOf(unreadLines) },
      () => listText(runs, misdated),
    );
  },
  trend: (options, [query], io) => {
    const chosen = chosenSeries(options, io);
    const about = {
      schema: 'agentci.history/1',
      ...branchOf(chosen),
      ...unreadOf(chosen.unreadLines),
    };
    if (query === undefined) {
      if (options.cell !== undefined)
        throw new UserError('HISTORY_USAGE', '--cell is about one query, and none is named', {
          hint: 'agentci history trend QUERY --cell name=value',
        });
      const found = chosen.series.map(({ agent, spec, runs }) => ({
        agent,
        spec,
        ...suiteTrend(runs),
      }));
      return print(
        io,
        options,
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
    return print(
      io,
      options,
      { ...about, query, ...alone(found.map(aloneInCell)) },
      () => `${chosen.note}${eachText(found, query, textOf)}`,
    );
  },
  flaky: (options, _, io) => {
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
    const report = tally.report();
    return print(
      io,
      options,
      {
        schema: 'agentci.history/1',
        ...branchOf(chosen),
        ...unreadOf(chosen.unreadLines, unread),
        runs: runs.length,
        ...report,
      },
      () =>
        `${chosen.note}${flakyText(report, { runs: runs.length, isOfSeveral: series.length > 1 })}${unreadText(unread, 'and what is missing is not counted')}`,
    );
  },
  'first-bad': (options, [query], io) => {
    if (query === undefined)
      throw new UserError('HISTORY_NO_QUERY', 'first-bad needs the id of a query');
    const chosen = chosenSeries(options, io);
    const found = queryTrends(query, chosen, options, io).map(({ cases, ...of }) => ({
      ...of,
      cases: cases.map(({ cell, points, unread, newest_unread }) => ({
        cell,
        ...findFirstBad(points, { isNewestUnread: newest_unread === true }),
        unread,
      })),
    }));
    return print(
      io,
      options,
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
  },
  cost: (options, _, io) => {
    const by = (options.by ?? 'week') as Period;
    if (!PERIODS.includes(by))
      throw new UserError('HISTORY_PERIOD', `--by: "${by}" is not a period`, {
        hint: `periods: ${PERIODS.join(', ')}`,
      });
    const { runs } = chosenRuns(options, io);
    const live = runs.filter(({ recorded }) => recorded !== true);
    const recorded = runs.length - live.length;
    const costs = costsBy(by, live);
    const note =
      recorded === 0 ? '' : `${plural(recorded, 'run')} judged recordings, which costs nothing\n`;
    return print(
      io,
      options,
      { schema: 'agentci.history/1', by, periods: costs, recorded_runs: recorded },
      () => `${costText(costs, by)}${note}`,
    );
  },
  import: async (options, paths, io) => {
    if (paths.length === 0)
      throw new UserError('HISTORY_NO_INPUT', 'import needs folders or files');
    const { importRuns } = await import('../../history/import.ts');
    const outcome = importRuns(historyRoot(specFolder(options.config, io)), paths, io);
    const { imported, known, completed, skipped, shards } = outcome;
    for (const why of skipped) io.stderr.write(`agentci: skipped: ${escapeTerminalLine(why)}\n`);
    if (shards > 0)
      io.stderr.write(
        `agentci: ${plural(shards, 'shard')} left out: the merged run counts. If there is none yet, make it with agentci merge\n`,
      );
    print(
      io,
      options,
      outcome,
      () =>
        `${plural(imported, 'run')} imported, ${known} known already${completed === 0 ? '' : `, ${completed} of them completed`}\n`,
    );
    return skipped.length > 0 && imported + known === 0 ? 2 : 0;
  },
  sql: async (options, [sql = ''], io) => {
    if (isBlankSql(sql)) throw new UserError('HISTORY_NO_SQL', 'sql needs a statement, in quotes');
    const asked = chosenRuns(options, io);
    const { queryHistory } = await import('../../history/duckdb.ts');
    const { columns, rows, unread } = await queryHistory(asked, sql, io);
    io.stderr.write(unreadText(unread, NOT_IN_TABLE));
    const lines = [columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))];
    return print(
      io,
      options,
      rows,
      () => `${lines.map((line) => line.map(escapeTerminalLine).join('\t')).join('\n')}\n`,
    );
  },
  export: async (options, _, io) => {
    if (options.parquet === undefined)
      throw new UserError('HISTORY_NO_FILE', 'export needs --parquet FILE');
    const asked = chosenRuns(options, io);
    const { exportParquet } = await import('../../history/duckdb.ts');
    const unread = await exportParquet(asked, resolve(io.cwd, options.parquet), io);
    io.stderr.write(
      `written: ${escapeTerminalLine(options.parquet)}\n${unreadText(unread, NOT_IN_TABLE)}`,
    );
    return 0;
  },
};

const NOT_IN_TABLE = 'and what is missing is in no row';

/** Nothing is left without comments. */
const isBlankSql = (sql: string): boolean =>
  sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|[\s;]/g, '') === '';

/** What of a history cannot be read, where there is something. */
const unreadOf = (lines: number, runs: readonly string[] = []) => ({
  unread_lines: lines !== 0 ? lines : undefined,
  unread: runs.length !== 0 ? runs : undefined,
});

/** What was found of the one spec there is; of several, a list. */
const alone = <T extends OfSpec>(found: readonly T[]): T | { readonly specs: readonly T[] } =>
  found.length === 1 ? found[0]! : { specs: found };

/** What was found of a query: of one that has several cells, a list. */
const aloneInCell = <T extends { readonly cell?: Cell }>({
  cases,
  ...of
}: OfSpec & { readonly cases: readonly T[] }) =>
  cases.length === 1
    ? { ...of, ...cases[0]! }
    : { ...of, cells: cases.map((each) => ({ ...each, cell: each.cell ?? null })) };

/** One after the other where a query has several cells. */
function eachCellText<T extends { readonly cell?: Cell }>(
  cases: readonly T[],
  id: string,
  textOf: (each: T, name: string) => string,
): string {
  if (cases.length === 1) return textOf(cases[0]!, caseText({ id, ...cases[0]! }));
  // A run from before the spec had a matrix has the query as such.
  const parts = cases.map((each) =>
    textOf(each, each.cell === undefined ? `${id} (no cell)` : caseText({ id, ...each })),
  );
  return `"${escapeTerminalLine(id)}" has ${cases.length} cells; --cell name=value chooses\n${parts.join('')}`;
}

/** Under a heading each where there are several. */
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

function print(io: Io, { json }: HistoryOptions, data: unknown, text: () => string): number {
  io.stdout.write(json ? `${JSON.stringify(data, null, 2)}\n` : text());
  return 0;
}

const cellOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);
