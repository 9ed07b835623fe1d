import { Option } from 'commander';
import { LANGUAGES } from '../../init/agents.ts';
import { CI_SYSTEMS } from '../../init/ci-jobs.ts';
import { RUNNERS } from '../../init/files.ts';
import { initProject } from '../../init/init-project.ts';
import type { CliCommand } from '../cli-command.ts';
import { collectList, wholeNumber } from '../options.ts';

export const command: CliCommand = {
  name: 'init',
  summary: 'write a spec, a starter agent and a CI job, then test',
  configure: (parser) =>
    parser
      .option('--agent <name>', "the agent's name (default: the project's)")
      .addOption(
        new Option('--runner <kind>', 'how the agent is reached (default: replay)').choices([
          ...RUNNERS,
        ]),
      )
      .addOption(
        new Option(
          '--language <name>',
          "of the starter agent for --runner command (default: the project's)",
        ).choices([...LANGUAGES]),
      )
      .option(
        '--capture',
        'for --runner command: see what the agent does from outside (capture: auto)',
      )
      .addOption(
        new Option('--ci <system>', 'the CI job to write (default: github)').choices([
          ...CI_SYSTEMS,
        ]),
      )
      .option(
        '--matrix <agents>',
        'a spec in agents/<name>/ and a job for each of these agents (separate by commas)',
        collectList,
      )
      .option(
        '--shards <n>',
        'divide the suite among this many CI jobs, and join their results in one more',
        wholeNumber(2, 256),
      )
      .option('--force', 'overwrite existing files')
      .option('-y, --yes', 'do not prompt')
      .addHelpText(
        'after',
        `
On a terminal it asks for missing options, otherwise it uses the defaults. It never overwrites a file without --force,
and never an agent. If a spec exists already, only the CI job is written. It ends with agentci validate and agentci test.

Examples:
  agentci init --runner command --language python
  agentci init --agent docs-assistant --runner module --ci gitlab
  agentci init --shards 4`,
      ),
  run: ({ options, io }) => initProject(options, io),
};
