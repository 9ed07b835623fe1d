import { failuresJson, failuresText } from '../../failures-command/failures-text.ts';
import { groupedFailures } from '../../failures-command/grouped-failures.ts';
import type { CliCommand } from '../cli-command.ts';

export const command: CliCommand = {
  name: 'failures',
  summary: 'group the failures of a run by cause',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec whose runs to use (default: agentci_spec.yaml)')
      .option('--run <id>', 'the stored run (default: the newest finished one of the spec)')
      .option('--before <id>', 'the run to compare with (default: the last verdicts before it)')
      .option('--json', 'print the groups as JSON')
      .addHelpText(
        'after',
        `
Failures of the same check with the same finding are one group, even if words and numbers differ. Each group says how
many queries it has, whether the previous run had it, the first step that differs from its baseline, and the command to run it again.

Example:
  agentci failures --run latest

Nothing is run or judged again, and the exit code only says whether the run could be read.`,
      ),
  run: async ({ options, io }) => {
    const failures = await groupedFailures(options, io);
    io.stdout.write(
      options.json
        ? `${JSON.stringify(failuresJson(failures), null, 2)}\n`
        : failuresText(failures),
    );
    return 0;
  },
};
