import { UserError } from '@agentci/lib/problems';
import { type MergeFlags, mergeRuns } from '../../merge/merged-run.ts';
import { unpackZips } from '../../merge/shard-folders.ts';
import { addNotifyFlags, type NotifyOptions } from '../../notify/flags.ts';
import { prepareNotify } from '../../notify/prepare.ts';
import { planOutputs } from '../../report/outputs.ts';
import type { CliCommand } from '../cli-command.ts';
import { collect } from '../options.ts';

export const command: CliCommand = {
  name: 'merge',
  summary: 'merge the runs of all shards into one',
  configure: (parser) =>
    addNotifyFlags(parser)
      .argument(
        '<dir...>',
        'run folders of `agentci test --shard`, or folders or zip files that hold them',
      )
      .option(
        '--out <dir>',
        'where to write the merged run (default: a new folder in .agentci/runs)',
      )
      .option(
        '-c, --config <file>',
        'merge the shards of this spec, and store the run next to it (the file itself is not read)',
      )
      .option(
        '--timings <file>',
        'where to write how long each query took (default: .agentci/timings.json)',
      )
      .option('-f, --format <name[=file]>', 'a report, to stdout or a file (repeatable)', collect)
      .option(
        '-o, --output <file>',
        'write a report to a file, with the format of its extension (repeatable)',
        collect,
      )
      .option('--json', 'the same as -f json')
      .option('--quiet', 'only failures and the summary')
      .addHelpText(
        'after',
        `
Exit: that of the whole run, or 2 if a shard is missing, damaged or unfinished. Existing results are written anyway.

Examples:
  agentci merge shards/
  agentci merge shards/ --out merged -f console -f junit=results.xml
  agentci test --failed-from merged`,
      ),
  run: async ({ args, options, io }) => {
    const { format = [], output, json } = options as MergeFlags;
    const formats = json ? [...format, 'json'] : format;
    const plans = planOutputs({ formats, files: output ?? [], env: io.env, cwd: io.cwd });
    const notifyWith = await prepareNotify(plans, options as NotifyOptions, io);
    const { removeTemporaryFolder } = await import('@agentci/lib/files');
    const given = await unpackZips(args, io);
    try {
      return await mergeRuns(options as MergeFlags & NotifyOptions, {
        given,
        plans,
        notifyWith,
        io,
      });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw new UserError(error.code, given.withShownNames(error.message), { hint: error.hint });
    } finally {
      for (const dir of given.unpacked.keys()) removeTemporaryFolder(dir);
    }
  },
};
