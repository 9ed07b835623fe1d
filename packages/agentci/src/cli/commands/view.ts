import { UserError } from '../../kit/user-error.ts';
import type { CliCommand } from '../cli-command.ts';
import { wholeNumber } from '../options.ts';
import { runsRoot, specFolder } from '../spec-folders.ts';
import { RunLibrary } from '../view/run-library.ts';
import { startViewServer } from '../view/server.ts';

export const command: CliCommand = {
  name: 'view',
  summary: 'look at stored runs in the browser, and at one in progress',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec whose runs are shown (default: agentci_spec.yaml)')
      .option('--port <n>', 'the port on 127.0.0.1 (default: a free one)', wholeNumber(0))
      .option('--run <id>', 'open this run; "latest" is the newest (default: the list)')
      .addHelpText(
        'after',
        `
Prints an address with a secret in it and serves until Ctrl-C, to this machine only. Nothing is sent anywhere.

Example:
  agentci view --port 8321`,
      ),
  run: async ({ options, io }) => {
    const { config, port, run: given } = options as { config?: string; port?: number; run?: string };
    if (port !== undefined && port > 65_535) throw new UserError('PORT_INVALID', `--port: there is no port ${port}`);
    const library = new RunLibrary(runsRoot(specFolder(config, io)), io.cwd);
    // Here the newest may be one in progress: it is what one wants to look at.
    const run = given === 'latest' ? library.list()[0]?.id : given;
    if (run !== undefined && library.update(run, 0) === undefined) {
      const newest = library.list()[0]?.id;
      throw new UserError('RUN_MISSING', `there is no stored run "${run}"`, {
        hint:
          newest === undefined
            ? 'Nothing has been run here yet; runs are beside their spec, which -c names.'
            : `The newest is: ${newest}`,
      });
    }
    const server = await startViewServer({ library, port: port ?? 0, version: io.version }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
        throw new UserError('PORT_TAKEN', `port ${port} cannot be used: ${error.code}`, {
          hint: 'Leave --port out to get a free one.',
        });
      },
    );
    io.stdout.write(`${server.url}${run === undefined ? '' : `#/?run=${encodeURIComponent(run)}`}\n`);
    io.stderr.write('agentci: serving the runs of this folder to this machine; Ctrl-C ends it\n');
    await new Promise<void>((resolve) => {
      if (io.signal.aborted) resolve();
      else io.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await server.close();
    return 0;
  },
};
