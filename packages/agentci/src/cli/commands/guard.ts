import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { someText } from '../options.ts';

export const command: CliCommand = {
  name: 'guard',
  summary: 'refuse MCP tool calls that a policy forbids',
  configure: (parser) =>
    parser
      .argument('[server...]', 'the server and its arguments, after --; or: install')
      .option('-p, --policy <file>', 'the policy, as judged by `agentci policy`', someText)
      .addOption(
        new Option('--mode <mode>', 'shadow refuses nothing and notes what it would')
          .choices(['enforce', 'shadow'])
          .default('enforce'),
      )
      .option('--audit <file>', 'write every decision to this file, as JSON lines', someText)
      .addOption(
        new Option('--audit-args <how>', 'arguments in the audit')
          .choices(['redacted', 'hash'])
          .default('redacted'),
      )
      .addOption(
        new Option('--deny-as <how>', 'a refusal as a result the model reads, or as an error')
          .choices(['result', 'error'])
          .default('result'),
      )
      .option(
        '--server <name>',
        'the name that clients give the server: mcp__NAME__tool means its tools too',
        someText,
      )
      .option(
        '--agent <name>',
        'the agent that makes the calls, for rules with "agents" or `agent`',
        someText,
      )
      .option('--strict', 'refuse tools that the policy does not know')
      .option('--url <url>', 'a server that is reached by HTTP, in place of one to start', someText)
      .option(
        '--listen <address>',
        'with --url: where to serve /mcp (default: 127.0.0.1 and a free port)',
        someText,
      )
      .addOption(
        new Option('--scope <scope>', 'with --url: whose calls count together')
          .choices(['client', 'process'])
          .default('client'),
      )
      .option('--config <file>', 'install: the configuration of an MCP client', someText)
      .option('--undo', 'install: take the guard out again')
      .addHelpText(
        'after',
        `
Put it before the command of a server in a client's configuration, or let \`guard install\` do that for every server in it.
Undecidable calls are refused. Without a readable policy the guard does not start.

Examples:
  agentci guard --policy policy.yaml --audit audit.jsonl -- node server.mjs
  agentci guard --policy policy.yaml --url https://example.com/mcp --listen 127.0.0.1:7300
  agentci guard install --config .mcp.json --policy policy.yaml
  agentci policy explain audit.jsonl

Exit codes: the server's own · 2 could not start`,
      ),
  run: async ({ args, options, io }) => {
    if (args[0] === 'install') {
      const { installGuard } = await import('../../mcp-commands/install-guard.ts');
      return installGuard(options, io);
    }
    const { runGuard } = await import('../../mcp-commands/run-guard.ts');
    return runGuard(args, options, io);
  },
};
