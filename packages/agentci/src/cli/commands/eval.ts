import { join } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine } from '@agentci/lib/text';
import { journalPath, judgedRun, readHeader, tracesOf } from '@agentci/run';
import { specRuns } from '../../stored-runs/stored-run.ts';
import { askedOf, prepareTests } from '../../test-command/prepare-tests.ts';
import { latestWithRecordings } from '../../test-command/recorded-run.ts';
import { runPrepared, runTests } from '../../test-command/run-tests.ts';
import type { TestOptions } from '../../test-command/test-options.ts';
import type { CliCommand } from '../cli-command.ts';
import { addSharedFlags, resolveAliases } from '../test-flags.ts';

export const command: CliCommand = {
  name: 'eval',
  summary: 'judge recordings or a stored run, without an agent',
  configure: (parser) => {
    addSharedFlags(parser)
      .option('--traces <path>', 'the recordings: a file or a folder')
      .option(
        '--run <id>',
        'the recordings of a stored run; "latest" is the newest finished one that has them for the chosen queries and repeats, on this branch if there is one',
      )
      .addHelpText(
        'after',
        `
A changed spec can be tried on what the agent did before, without running it again.

Example:
  agentci eval --run latest -c agentci_spec.yaml`,
      );
  },
  run: async ({ options, io }) => {
    const { run, ...rest } = resolveAliases(options) as unknown as TestOptions & { run?: string };
    if (run !== undefined && rest.traces !== undefined)
      throw new UserError('OPTIONS_CONFLICT', '--traces and --run exclude each other');
    if (run === undefined && rest.traces === undefined) {
      throw new UserError('TRACES_MISSING', 'eval needs recordings: --traces PATH or --run ID', {
        hint: '`agentci test` runs the agent of the spec.',
      });
    }
    if (run === undefined) return runTests(rest, io, 'eval');
    const { root, latest } = specRuns(rest.config, io);
    const prepared = await prepareTests(rest, io, 'eval');
    const id =
      run === 'latest' ? latestWithRecordings(root, latest, askedOf(prepared, io), io) : run;
    if (run !== id && !rest.quiet) io.stderr.write(`agentci: judging ${runLabel(root, id)}\n`);
    const found = { ...prepared.options, traces: tracesOf(root, id) };
    const judges = judgedRun(join(root, id));
    return (await runPrepared({ ...prepared, options: found, judges }, io)).code;
  },
};

function runLabel(root: string, id: string): string {
  const branch = readHeader(journalPath(join(root, id)))?.branch;
  return `run ${id}${branch === undefined ? '' : ` of branch ${escapeTerminalLine(branch)}`}`;
}
