import { UserError } from '../../kit/user-error.ts';
import { type StoredRun, tracesOf } from '../../store/stored-runs.ts';
import type { CliCommand } from '../cli-command.ts';
import { gitState } from '../git-state.ts';
import { runTests } from '../run-tests.ts';
import { isRunOfFile, runsRoot, specFolder } from '../spec-folders.ts';
import { storedRunId } from '../stored-run.ts';
import { addSharedFlags, resolveAliases } from '../test-flags.ts';
import type { TestOptions } from '../test-options.ts';

export const command: CliCommand = {
  name: 'eval',
  summary: 'judge recordings or a stored run again; never runs an agent',
  configure: (parser) => {
    addSharedFlags(parser)
      .option('--traces <path>', 'the recordings: a file or a folder')
      .option(
        '--run <id>',
        'the recordings of a stored run; "latest" is the newest finished one on this branch that has the chosen queries',
      )
      .addHelpText(
        'after',
        `
A changed spec can be tried on what the agent did before, without running it again.

Example:
  agentci eval --run latest -c agentci_spec.yaml`,
      );
  },
  run: ({ options, io }) => {
    const { run, ...rest } = resolveAliases(options) as unknown as TestOptions & { run?: string };
    if (run !== undefined && rest.traces !== undefined)
      throw new UserError('OPTIONS_CONFLICT', '--traces and --run exclude each other');
    if (run === undefined && rest.traces === undefined) {
      throw new UserError('NO_TRACES', 'eval needs recordings: --traces PATH or --run ID', {
        hint: '`agentci test` runs the agent of the spec.',
      });
    }
    if (run === undefined) return runTests(rest, io, 'eval');
    const folder = specFolder(rest.config, io);
    const root = runsRoot(folder);
    const isOurs = (stored: StoredRun): boolean => isRunOfFile(rest.config, stored);
    const { ids, tags, filter, cell } = rest;
    const latest = {
      isOurs,
      spec: rest.config,
      branch: gitState(folder, io).branch,
      selection: { ids, tags, filter, cell },
    };
    return runTests({ ...rest, traces: tracesOf(root, storedRunId(root, run, latest)) }, io, 'eval');
  },
};
