import { addNotifyFlags } from '../../notify/flags.ts';
import { reportStored } from '../../report/stored-report.ts';
import type { CliCommand } from '../cli-command.ts';
import { collect } from '../options.ts';

export const command: CliCommand = {
  name: 'report',
  summary: 'render a stored run, or a results file, in any format',
  configure: (parser) =>
    addNotifyFlags(parser)
      .option('-c, --config <file>', 'the spec whose runs to use (default: agentci_spec.yaml)')
      .option(
        '--run <id>',
        'the stored run (default, and "latest": the newest finished one of the spec)',
      )
      .option('-i, --input <file>', 'a JSON result written by -f json')
      .option('--traces <path>', 'the recordings of --input, for reports that show timelines')
      .option(
        '--before <id>',
        'a stored run or a JSON result to compare with, in the markdown and html reports (default: the newest run of the base branch)',
      )
      .option('-f, --format <name[=file]>', 'a report, to stdout or a file (repeatable)', collect)
      .option(
        '-o, --output <file>',
        'write a report to a file, with the format of its extension (repeatable)',
        collect,
      )
      .option('--quiet', 'only failures and the summary')
      .addHelpText(
        'after',
        `
Nothing is run or judged again, and the exit code only says whether the report could be made.

Example:
  agentci report -f markdown=summary.md -o results.xml`,
      ),
  run: ({ options, io }) => reportStored(options, io),
};
