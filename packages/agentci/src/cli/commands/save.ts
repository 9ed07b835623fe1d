import { saveBaselines } from '../../baseline-command/save-baselines.ts';
import { judgeOption } from '../../baseline-command/save-traces.ts';
import type { SaveFlags } from '../../baseline-command/traces-to-save.ts';
import type { CliCommand } from '../cli-command.ts';
import { collect, duration } from '../options.ts';

export const command: CliCommand = {
  name: 'save',
  summary: 'save a run as the baseline to compare with',
  configure: (parser) => {
    parser
      .requiredOption('--version <name>', 'the version to save it under, for example v2-fixed')
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml)')
      .option('--agent <name>', 'the agent (must match the spec)')
      .option(
        '--query <id or text>',
        'only this query (without --run and --trace-file, the agent runs)',
      )
      .option('--cell <name=value>', 'only this cell of the matrix (repeatable)', collect)
      .option('--run <id>', 'from a stored run (default, and "latest": the newest of this spec)')
      .option('--trace-file <path>', 'from recordings: a file or a folder')
      .option('--trace-format <format>', 'format of the recordings (default: detected)')
      .option('--baseline-dir <dir>', "folder of the baselines (default: the spec's baseline_dir)")
      .option('--precheck-correctness', 'judge the trace by its checks first (always done)')
      .option('--precheck-judge', 'rubrics too (always done)')
      .addOption(judgeOption())
      .option(
        '--judge-cache <dir>',
        'folder of stored verdicts (default: .agentci/judge-cache next to the spec)',
      )
      .option('--force-save', 'save it even if the precheck fails, and mark the file as forced')
      .option('--overwrite', 'replace a baseline of the same version and query')
      .option(
        '--timeout <time>',
        'time limit for one query when the agent is run: 500ms, 30s, 2m',
        duration,
      )
      .option('--no-redact', 'do not mask values that look like keys or passwords')
      .option('--json', 'print the saved files as JSON')
      .addHelpText(
        'after',
        `
Examples:
  agentci save --version v1                              every query of the newest run
  agentci save --version v1 --query install              run the agent for one query
  agentci save --version v1 --trace-file traces.jsonl    from recordings

Exit codes: 0 saved · 1 a precheck failed · 2 a precheck could not be decided, or a file exists already`,
      );
  },
  run: ({ options, io }) => saveBaselines(options as unknown as SaveFlags, io),
};
