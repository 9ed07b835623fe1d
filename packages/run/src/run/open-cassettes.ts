import { UserError } from '@agentci/lib/problems';
import type { Cassettes } from './cassettes.ts';
import type { LiveRunner, RunOptions } from './run-options.ts';

/** The cassettes of the run, where spec or command line want them. Their code is loaded only then. */
export async function openCassettes(
  options: RunOptions,
  config: LiveRunner,
): Promise<Cassettes | undefined> {
  const { suite, cassette: choice, env = {}, now = Date.now } = options;
  if (suite.cassette === undefined && choice === undefined) return undefined;
  const { planCassettes, recordCommand, refuseTwins } = await import('./cassette-choice.ts');
  const plan = planCassettes({ choice, config: suite.cassette, specDir: suite.dir, env });
  if (plan === undefined) return undefined;
  if (typeof config === 'function' || (config.kind !== 'command' && config.kind !== 'module'))
    throw new UserError(
      'CASSETTE_RUNNER',
      `cassettes need an agent that is started here, and the runner is ${typeof config === 'function' ? 'a function' : `"${config.kind}"`}`,
      { hint: 'Use a "command" or "module" runner, or --cassette off.' },
    );
  refuseTwins(suite.queries.map(({ id }) => id));
  const { Cassettes } = await import('./cassettes.ts');
  const { file } = suite;
  const { runs } = options;
  return new Cassettes(plan, {
    agent: suite.agent,
    now,
    recordCommand: (about) => recordCommand({ file, runs, choice }, about),
  });
}
