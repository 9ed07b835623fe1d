import { UserError } from '@agentci/lib/problems';
import { runTests } from '../../test-command/run-tests.ts';
import type { TestOptions } from '../../test-command/test-options.ts';
import type { CliCommand } from '../cli-command.ts';
import { addLiveFlags, addSharedFlags, resolveAliases } from '../test-flags.ts';

export const command: CliCommand = {
  name: 'test',
  summary: 'run the agent or judge recordings',
  configure: (parser) => {
    addSharedFlags(parser).option(
      '--traces <path>',
      'judge these recordings (file or folder) instead of running the agent',
    );
    addLiveFlags(parser).addHelpText(
      'after',
      `
Exit: 0 nothing failed (warnings allowed), 1 a check failed, 2 could not tell, 130 interrupted.

Examples:
  agentci test --traces traces.jsonl
  agentci test -t smoke -f console -f json=results.json
  agentci test --failed
  agentci test --cell model=gpt-5-mini --dry-run
  agentci test --watch`,
    );
  },
  run: async ({ options, io }) => {
    const given = resolveAliases(options) as unknown as TestOptions;
    if (!given.watch) return runTests(given, io, 'test');
    const clash = (['resume', 'failed', 'dryRun', 'queue', 'shard'] as const).find(
      (name) => given[name],
    );
    if (clash !== undefined)
      throw new UserError(
        'OPTIONS_CONFLICT',
        `--watch and --${clash === 'dryRun' ? 'dry-run' : clash} exclude each other`,
      );
    const { watchTests } = await import('../../watch/watch.ts');
    return watchTests(given, io);
  },
};
