import { UserError } from '@agentci/lib/problems';
import type { CliCommand } from '../cli-command.ts';

export const command: CliCommand = {
  name: 'lsp',
  summary: 'run the language server for editors',
  configure: (parser) =>
    parser
      .option('--stdio', 'speak the Language Server Protocol over stdin and stdout')
      .addHelpText(
        'after',
        `
For editors and coding agents, which start it themselves. It reads the spec, what it includes, and recordings near it;
it never writes a file and never runs anything a spec names.

Example:
  agentci lsp --stdio

Exit codes: 0 the editor said goodbye · 1 the editor went away · 2 --stdio is missing`,
      ),
  run: async ({ options, io }) => {
    if (options.stdio !== true)
      throw new UserError(
        'OPTION_INVALID',
        'agentci lsp speaks over stdin and stdout: agentci lsp --stdio',
        {
          hint: 'Editors start it automatically. docs/guide/editors.md has the settings.',
        },
      );
    const { serve } = await import('../../lsp/server.ts');
    const { cwd, version, signal, now } = io;
    return serve({ input: process.stdin, output: process.stdout, cwd, version, signal, now });
  },
};
