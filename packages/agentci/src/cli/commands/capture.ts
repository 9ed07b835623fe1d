import { CAPTURE_PLANES } from '@agentci/spec';
import { captureProgram } from '../../capture-command/capture-program.ts';
import type { CliCommand } from '../cli-command.ts';
import { cassetteChoice, collect, collectList, someText } from '../options.ts';

export const command: CliCommand = {
  name: 'capture',
  summary: 'run a program and record its calls as a trace',
  configure: (parser) =>
    parser
      .argument('[command...]', 'the program and its arguments, after --')
      .option('--out <dir>', 'the folder for the files (default: a new one in .agentci/captures)')
      .option(
        '--planes <names>',
        `what to watch: ${CAPTURE_PLANES.join(', ')} (default: all)`,
        collectList,
      )
      .option(
        '--provider <names>',
        'also capture these providers, even without a key for them',
        collectList,
      )
      .option(
        '--upstream <provider=url>',
        'address for the calls of a provider (repeatable)',
        collect,
      )
      .option(
        '--cassette <mode[=dir]>',
        'model calls: record them into files, replay them from there, auto (replay known calls, record the rest) or off',
        cassetteChoice,
      )
      .option(
        '--mcp-config <file>',
        'the MCP servers of the program: it gets a copy in which each is behind a tap',
        someText,
      )
      .option('--query <text>', 'what the program is asked, for the trace', someText)
      .option('--env-only', 'print the variables to set elsewhere, and serve until Ctrl-C')
      .option('--json', 'the summary as JSON, on stderr')
      .addHelpText(
        'after',
        `
The program keeps its input, output and exit code; the summary is on stderr. Keys pass through and are not written.

Example:
  agentci capture --out captures/first -- python agent.py
  agentci test --traces captures/first

With --cassette record the calls are also stored in cassettes/capture, and --cassette replay answers them from there.

Exit codes: the program's own if it is not 0 · 0 captured · 2 nothing was captured, or a call is not in the cassette`,
      ),
  run: ({ args, options, io }) => captureProgram(args, options, io),
};
