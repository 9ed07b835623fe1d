import { caseKey, caseText } from '@agentci/results';
import type { CassetteChoice } from '@agentci/run';
import { freshTraces } from '@agentci/run';
import { selectQueries } from '@agentci/spec';
import {
  baselinePlace,
  type PlaceOptions,
  queryNamed,
} from '../../baseline-command/baseline-place.ts';
import {
  judgeOption,
  refuseExisting,
  type SaveOptions,
  saveTraces,
} from '../../baseline-command/save-traces.ts';
import { cellsOf } from '../../test-command/cell-option.ts';
import type { CliCommand } from '../cli-command.ts';
import {
  cassetteChoice,
  collect,
  collectList,
  duration,
  positiveNumber,
  someText,
  wholeNumber,
  withFolder,
} from '../options.ts';
import { startProgress } from '../progress.ts';

interface Options extends PlaceOptions, SaveOptions {
  readonly query?: string;
  readonly tags?: readonly string[];
  readonly filter?: string;
  readonly workers?: number;
  readonly retries?: number;
  readonly timeout?: number;
  readonly maxCost?: number;
  readonly quiet?: boolean;
  readonly cassette?: CassetteChoice;
  readonly cell?: readonly string[];
}

const EXIT_INTERRUPTED = 130;

export const command: CliCommand = {
  name: 'record',
  summary: 'run the agent for every query and save each run as a baseline',
  configure: (parser) => {
    parser
      .requiredOption('--version <name>', 'the version to save under, for example v1')
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml)')
      .option('--agent <name>', "the agent; it must be the spec's")
      .option('--query <id or text>', 'only this query')
      .option(
        '-t, --tags <tags>',
        'only queries with one of these tags (repeat or separate by commas)',
        collectList,
      )
      .option(
        '--filter <text>',
        'only queries whose id or text contains this; * is a wildcard',
        someText,
      )
      .option('--cell <name=value>', 'only this cell of the matrix (repeatable)', collect)
      .option('-w, --workers <n>', 'queries in progress at a time (default: 4)', wholeNumber(1))
      .option('--retries <n>', 'retries after an infrastructure error (default: 2)', wholeNumber(0))
      .option(
        '--timeout <time>',
        'longest time for one query: 500ms, 30s, 2m (default: 2m)',
        duration,
      )
      .option(
        '--max-cost <usd>',
        'stop starting queries once the agent has cost this much',
        positiveNumber,
      )
      .option(
        '--cassette <mode[=dir]>',
        'calls of models: record them, replay them from files, auto (replay what is known, record the rest) or off',
        cassetteChoice,
      )
      .option('--baseline-dir <dir>', "where baselines are, instead of the spec's baseline_dir")
      .option('--precheck-judge', 'ask the judge too before saving (always done)')
      .addOption(judgeOption())
      .option(
        '--judge-cache <dir>',
        'where verdicts are stored (default: .agentci/judge-cache beside the spec)',
      )
      .option(
        '--force-save',
        'save whatever the precheck says; the files say that they were forced',
      )
      .option('--overwrite', 'replace baselines of the same version')
      .option('--quiet', 'no progress')
      .option('--no-redact', 'keep what looks like a key or password as it is')
      .option('--json', 'say what was saved as JSON')
      .addHelpText(
        'after',
        `
Example:
  agentci record --version v1 -t smoke

Exit codes: 0 all saved · 1 a precheck failed · 2 a precheck could not be decided, a query gave no trace, or a file exists`,
      );
  },
  run: async ({ options: given, io }) => {
    const options = given as unknown as Options;
    const place = await baselinePlace(options, io);
    const { tags, filter } = options;
    const ids =
      options.query === undefined ? undefined : [queryNamed(place.suite, options.query).id];
    const cells = cellsOf(place.suite, options.cell);
    refuseExisting(selectQueries(place.suite, { tags, filter, ids, cells }), place, options, io);
    const progress = startProgress(io, {
      quiet: (options.quiet ?? false) || (options.json ?? false),
    });
    const { timeout: timeoutMs, maxCost: maxCostUsd, workers, retries } = options;
    const cassette =
      options.cassette === undefined ? undefined : withFolder(options.cassette, io.cwd);
    const present = Object.entries({
      tags,
      filter,
      ids,
      cells,
      workers,
      retries,
      timeoutMs,
      maxCostUsd,
      cassette,
    }).filter(([, value]) => value !== undefined);
    try {
      const found = await freshTraces({
        suite: place.suite,
        env: io.env,
        signal: io.signal,
        now: io.now,
        sink: progress,
        ...Object.fromEntries(present),
      });
      progress.stop();
      const byKey = new Map(place.suite.queries.map((query) => [caseKey(query), query]));
      const refused = [...found.errors].map(([key, { message }]) => ({
        query_id: byKey.get(key)!.id,
        code: 'NO_TRACE',
        message: `${caseText(byKey.get(key)!)}: ${message}`,
      }));
      const code = await saveTraces({ ...place, byQuery: found.byQuery, refused }, options, io);
      // What was finished before Ctrl-C is saved; the rest is a matter of running the command again.
      return found.interrupted ? EXIT_INTERRUPTED : code;
    } finally {
      progress.stop();
    }
  },
};
