import { isWhole, SOURCES } from '@agentci/convert';
import { escapeTerminal } from '@agentci/lib/text';
import { type ConvertFlags, convertFiles, describe } from '../../convert-command/convert-files.ts';
import type { CliCommand } from '../cli-command.ts';
import { collect } from '../options.ts';

export const command: CliCommand = {
  name: 'convert',
  summary: 'convert a suite of another tool into a spec',
  configure: (parser) =>
    parser
      .argument('<files...>', 'suites: files or folders')
      .option('--from <tool>', 'the tool the suite is of, instead of detecting it')
      .option('--out <folder>', 'folder for the spec and the report', '.')
      .option(
        '--map <name=path>',
        'location of a field in the source, e.g. input=inputs.question (repeatable)',
        collect,
      )
      .option('--agent <name>', "the agent's name in the spec")
      .option('--lossy', 'also write approximate checks, with a comment')
      .option('--overwrite', 'overwrite existing files')
      .option('--json', 'print the report as JSON')
      .addHelpText(
        'after',
        `
Tools:
${SOURCES.map(({ name, summary }) => `  ${name.padEnd(18)}${summary}`).join('\n')}

Writes agentci_spec.yaml, convert-report.md and convert-report.json, and rows/*.jsonl for large sets.
Nothing of the source is run, fetched or read from outside its folder, and the environment is not read.

Examples:
  agentci convert promptfooconfig.yaml             the suite as a spec in this folder
  agentci convert evals/ --out converted --lossy   all suites of a folder, with approximate checks

Exit codes: 0 all carried · 1 something was left out (listed) · 2 the source could not be read, or names a file outside its folder`,
      ),
  run: async ({ args, options: given, io }) => {
    const options = given as unknown as ConvertFlags;
    const report = await convertFiles(args, options, io.cwd);
    io.stdout.write(
      options.json ? `${JSON.stringify(report, null, 2)}\n` : escapeTerminal(describe(report)),
    );
    return isWhole(report) ? 0 : 1;
  },
};
