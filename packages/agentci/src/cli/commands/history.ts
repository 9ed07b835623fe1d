import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { ACTIONS, type Action, refuseUnused } from '../../history/history-actions.ts';
import { FLAKY_RUNS, HISTORY_REPORTS, LISTED } from '../../history/history-reports.ts';
import type { HistoryOptions } from '../../history/place.ts';
import type { CliCommand } from '../cli-command.ts';
import { collect, someText, wholeNumber } from '../options.ts';

export const command: CliCommand = {
  name: 'history',
  summary: 'query past runs: trends, flaky queries, cost',
  configure: (parser) =>
    parser
      .argument('[action]', `${ACTIONS.join(', ')} (default: list)`)
      .argument(
        '[what...]',
        'trend, first-bad: id of a query, import: folders and files, sql: a statement',
      )
      .option('-c, --config <file>', 'only runs of this spec (the history is next to it)')
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
      .option('--parquet <file>', 'export: one row per query of every run (needs @duckdb/node-api)')
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        `
Actions:
  list       past runs, newest first
  trend      pass rate, cost and latency over time, of the suite or a query
  flaky      queries whose verdict changes without a change of the code
  first-bad  the last good and the first bad run of a query
  cost       cost per day, week or month
  import     add runs from JSON reports or run folders
  sql        query the history (needs @duckdb/node-api)
  export     write the history as Parquet

Every finished run of test, eval and merge adds a line to .agentci/history/runs.jsonl next to its spec, and a file with a
line per query. Rates come with a 95 % interval, or a note if there are too few runs.

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
      throw new UserError('OPTION_INVALID', `history has no action "${action}"`, {
        hint: near === undefined ? `actions: ${ACTIONS.join(', ')}` : `Did you mean "${near}"?`,
      });
    }
    refuseUnused(action as Action, options, what);
    const { data, text, code = 0 } = await HISTORY_REPORTS[action as Action](options, what, io);
    io.stdout.write(options.json ? `${JSON.stringify(data, null, 2)}\n` : text());
    return code;
  },
};
