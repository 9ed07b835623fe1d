import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { someText } from '../options.ts';

export const command: CliCommand = {
  name: 'tap',
  summary: 'record or replay an MCP session',
  configure: (parser) =>
    parser
      .argument('[server...]', 'the server and its arguments, after --')
      .option(
        '--server <name>',
        'the name of the server, for the file (default: from its command)',
        someText,
      )
      .option(
        '--out <file>',
        'output file (default: .agentci/captures/mcp-NAME.jsonl), existing files are kept',
        someText,
      )
      .option(
        '--unmasked',
        'also write texts that look like credentials (known secrets are never written)',
      )
      .option('--url <url>', 'a server that is reached by HTTP, in place of one to start', someText)
      .option(
        '--listen <address>',
        'with --url: where to serve /mcp (default: 127.0.0.1 and a free port)',
        someText,
      )
      .option(
        '--cassette <mode=file>',
        'record=FILE stores the answers, replay=FILE replays them without a server',
        someText,
      )
      // For the taps of a run. The file with the answers may change during reading.
      .addOption(new Option('--play <file>').hideHelp())
      .addHelpText(
        'after',
        `
Put it before the command of a server in a client's configuration. Every byte passes unchanged.

Examples:
  agentci tap --server files -- npx -y @modelcontextprotocol/server-filesystem .
  agentci tap --cassette replay=cassettes/mcp-files.jsonl

Exit codes: the server's own · 2 could not start or write, or a call was not in the cassette`,
      ),
  run: async ({ args, options, io }) => {
    const { runTap } = await import('../../mcp-commands/run-tap.ts');
    return runTap(args, options, io);
  },
};
