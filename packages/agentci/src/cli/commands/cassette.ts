import { UserError } from '@agentci/lib/problems';
import { Option } from 'commander';
import { checkCassettes } from '../../cassette-command/check.ts';
import { pruneCassettes } from '../../cassette-command/drop-unused.ts';
import { listCassettes } from '../../cassette-command/list.ts';
import {
  type CassetteFlags,
  cassettePlace,
  refuseUnknownId,
} from '../../cassette-command/place.ts';
import { rerecordCassettes } from '../../cassette-command/rerecord.ts';
import { showRecording } from '../../cassette-command/show.ts';
import type { CliCommand } from '../cli-command.ts';
import { wholeNumber } from '../options.ts';

const ACTIONS = ['ls', 'show', 'check', 'prune', 'rerecord'] as const;
type Action = (typeof ACTIONS)[number];

export const command: CliCommand = {
  name: 'cassette',
  summary: 'list, show, check, prune and renew recorded model calls',
  configure: (parser) => {
    parser
      .argument('<action>', 'ls, show, check, prune or rerecord')
      .argument('[query]', 'the id of a query (required for show)')
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml)')
      .option('--dir <dir>', "where cassettes are, instead of the spec's cassette.dir")
      .option('--run <n>', 'show: which run of the query (default: 1)', wholeNumber(1))
      .option(
        '--live <n>',
        'check: send up to N stored requests to the providers again and compare the shape of answers',
        wholeNumber(1),
      )
      .addOption(
        new Option(
          '--only <which>',
          'rerecord: queries without a recording, or those that no longer fit theirs',
        ).choices(['missing', 'stale']),
      )
      .option(
        '-w, --workers <n>',
        'check, rerecord: queries to run at once (default: 4)',
        wholeNumber(1),
      )
      .option(
        '--unused',
        'prune: run the agent offline, and also remove exchanges that it does not ask for',
      )
      .option('--json', 'ls, check: as JSON')
      .addHelpText(
        'after',
        `
check runs the agent offline and says for each query whether its calls are still those that were recorded, and if not,
why: model, system prompt, tools, user message, earlier turn, parameters. prune removes files that no query uses. rerecord
asks the real models and replaces recordings of queries that succeed. The id of a query limits each of them to it.

Examples:
  agentci cassette ls
  agentci cassette show refund
  agentci cassette check
  agentci cassette rerecord --only stale

Exit codes: 0 all is well · 1 check found recordings that no longer fit · 2 a file cannot be read, or could not tell`,
      );
  },
  run: async ({ args, options: given, io }) => {
    const options = given as CassetteFlags;
    const [action = '', id] = args;
    if (!ACTIONS.includes(action as Action))
      throw new UserError('OPTION_INVALID', `unknown action "${action}"`, {
        hint: `actions: ${ACTIONS.join(', ')}`,
      });
    const place = await cassettePlace(options, io);
    const only = id === undefined ? {} : { id };
    if (id !== undefined && action !== 'show')
      refuseUnknownId(id, place, { mayBeGone: action === 'ls' || action === 'prune' });
    switch (action as Action) {
      case 'ls':
        return listCassettes(place, { ...options, ...only }, io);
      case 'show':
        return showRecording(place, id, options, io);
      case 'check':
        return checkCassettes(place, { ...options, ...only }, io);
      case 'prune':
        return pruneCassettes(place, { ...options, ...only }, io);
      default:
        return rerecordCassettes(place, { ...options, ...only }, io);
    }
  },
};
