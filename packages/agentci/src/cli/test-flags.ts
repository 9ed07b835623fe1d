import { JUDGE_MODES } from '@agentci/judge';
import { REPORTERS } from '@agentci/reporters';
import { type Command, Option } from 'commander';
import { addNotifyFlags } from '../notify/flags.ts';
import { DEFAULT_SPEC } from '../stored-runs/spec-folders.ts';
import {
  cassetteChoice,
  collect,
  collectList,
  duration,
  fraction,
  positiveNumber,
  rate,
  shardChoice,
  someText,
  wholeNumber,
} from './options.ts';

/** Options shared by `test` and `eval`. */
export function addSharedFlags(parser: Command): Command {
  addSelectionFlags(parser);
  addReportFlags(parser);
  addJudgingFlags(parser);
  return addNotifyFlags(parser);
}

/** Options that select queries. */
const addSelectionFlags = (parser: Command): Command =>
  parser
    .option('-c, --config <file>', 'the spec', DEFAULT_SPEC)
    .option(
      '-t, --tags <tags>',
      'only queries with one of these tags (repeat or separate with commas)',
      collectList,
    )
    .option(
      '--filter <text>',
      'only queries whose id or text contains this; * is a wildcard',
      someText,
    )
    .option('--ids <ids>', 'only these queries (repeat or separate with commas)', collectList)
    .option('--cell <name=value>', 'only this value of the matrix (repeatable)', collect)
    .option('--failed', 'only queries that failed or could not be judged last time')
    .option(
      '--failed-from <dir>',
      'only queries that failed or could not be judged in this run folder, such as a merged one',
    )
    .option(
      '--shard <i/n>',
      'run only this part of the queries: 2/8 is the second of eight (see agentci merge)',
      shardChoice,
    )
    .option(
      '--weights <file>',
      'timings for balancing shards (default: .agentci/timings.json next to the spec)',
      someText,
    );

const addReportFlags = (parser: Command): Command =>
  parser
    .option(
      '-f, --format <name[=file]>',
      `a report, to stdout or a file (repeatable): ${Object.keys(REPORTERS).join(', ')}`,
      collect,
    )
    .option(
      '-o, --output <file>',
      'write a report to a file, with the format of its extension (repeatable)',
      collect,
    );

/** Options that control judging. */
const addJudgingFlags = (parser: Command): Command =>
  parser
    .option('--trace-format <format>', 'format of the recordings (default: detected)')
    .option('--baseline <version>', 'compare with this baseline version')
    .option('--baseline-dir <dir>', "folder of the baselines (default: the spec's baseline_dir)")
    .addOption(
      new Option(
        '--judge <mode>',
        'rubric checks: call the judge, use stored verdicts only, or skip them',
      ).choices([...JUDGE_MODES]),
    )
    .option(
      '--sample-ensemble <share>',
      'let the ensemble judge this share of the queries, and a single judge the rest',
      fraction,
    )
    .option('--audit-user', 'measure mistakes of the model that plays the user (uses the judge)')
    .option(
      '--judge-cache <dir>',
      'folder of stored verdicts (default: .agentci/judge-cache next to the spec)',
    )
    .option(
      '--max-cost <usd>',
      'once this cost is reached, start no query and call no judge (queries in progress finish)',
      positiveNumber,
    )
    .option('-w, --workers <n>', 'queries to run at once (default: 4)', wholeNumber(1))
    .addOption(new Option('-j <n>').argParser(wholeNumber(1)).hideHelp())
    .option(
      '-n, --runs <n>',
      'times to run each query (default: from the spec)',
      wholeNumber(1, 1000),
    )
    .addOption(new Option('--repeat <n>').argParser(wholeNumber(1, 1000)).hideHelp())
    .option('--seed <n>', 'random seed', wholeNumber(0))
    .option('--fail-fast', 'stop after the first failure')
    .option('--strict', 'exit 1 on a warning, 2 on an unmeasured check')
    .option('--json', 'same as -f json, with --dry-run the plan as JSON')
    .option('--quiet', 'only failures and the summary');

/** Options that need an agent to run. */
export function addLiveFlags(parser: Command): Command {
  return parser
    .option('--retries <n>', 'retries after an infrastructure error (default: 2)', wholeNumber(0))
    .option('--timeout <time>', 'time limit for one query: 500ms, 30s, 2m (default: 2m)', duration)
    .option(
      '--cassette <mode[=dir]>',
      'model calls: record them, replay them from files, auto (replay known calls, record the rest) or off',
      cassetteChoice,
    )
    .option('--dry-run', 'print the plan and its estimated cost without running')
    .option('--watch', 'rerun the queries affected by a change of the spec, its data or the agent')
    .option(
      '--queue <redis-url>',
      'run the agent in `agentci worker`s, which take queries from this Redis',
      someText,
    )
    .option(
      '--queue-rate <n/time>',
      'with --queue: most queries to start per unit of time, over all workers: 10/s, 300/m',
      rate,
    )
    .option(
      '--queue-timeout <time>',
      'with --queue: how long to wait for a worker (default: as long as it takes) or a Redis that went away (1m)',
      duration,
    )
    .option('--resume', 'resume the unfinished run of this spec');
}

/** Replaces short options with their long form. */
export function resolveAliases(
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { j, repeat, ...rest } = options;
  return { ...rest, workers: j ?? rest.workers, runs: repeat ?? rest.runs };
}
