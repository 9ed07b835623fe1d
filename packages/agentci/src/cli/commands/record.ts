import { type RecordFlags, recordBaselines } from '../../baseline-command/record-baselines.ts';
import { judgeOption } from '../../baseline-command/save-traces.ts';
import type { CliCommand } from '../cli-command.ts';
import {
  cassetteChoice,
  collect,
  collectList,
  duration,
  positiveNumber,
  someText,
  wholeNumber,
} from '../options.ts';

export const command: CliCommand = {
  name: 'record',
  summary: 'run the agent and save each run as a baseline',
  configure: (parser) => {
    parser
      .requiredOption('--version <name>', 'the version to save under, for example v1')
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml)')
      .option('--agent <name>', 'the agent (must match the spec)')
      .option('--query <id or text>', 'only this query')
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
      .option('--cell <name=value>', 'only this cell of the matrix (repeatable)', collect)
      .option('-w, --workers <n>', 'queries to run at once (default: 4)', wholeNumber(1))
      .option('--retries <n>', 'retries after an infrastructure error (default: 2)', wholeNumber(0))
      .option(
        '--timeout <time>',
        'time limit for one query: 500ms, 30s, 2m (default: 2m)',
        duration,
      )
      .option(
        '--max-cost <usd>',
        'stop starting queries once the agent has cost this much',
        positiveNumber,
      )
      .option(
        '--cassette <mode[=dir]>',
        'model calls: record them, replay them from files, auto (replay known calls, record the rest) or off',
        cassetteChoice,
      )
      .option('--baseline-dir <dir>', "folder of the baselines (default: the spec's baseline_dir)")
      .option('--precheck-judge', 'ask the judge too before saving (always done)')
      .addOption(judgeOption())
      .option(
        '--judge-cache <dir>',
        'folder of stored verdicts (default: .agentci/judge-cache next to the spec)',
      )
      .option('--force-save', 'save even if the precheck fails, and mark the files as forced')
      .option('--overwrite', 'replace baselines of the same version')
      .option('--quiet', 'no progress')
      .option('--no-redact', 'do not mask values that look like keys or passwords')
      .option('--json', 'print the saved files as JSON')
      .addHelpText(
        'after',
        `
Example:
  agentci record --version v1 -t smoke

Exit codes: 0 all saved · 1 a precheck failed · 2 a precheck could not be decided, a query gave no trace, or a file exists`,
      );
  },
  run: ({ options, io }) => recordBaselines(options as unknown as RecordFlags, io),
};
