import { escapeTerminalLine } from '@agentci/lib/text';
import { findBaselines } from '@agentci/run';
import { baselinePlaceToRead, type PlaceOptions } from '../../baseline-command/baseline-place.ts';
import { summarize, table } from '../../baseline-command/baseline-table.ts';
import type { CliCommand } from '../cli-command.ts';

interface Options extends PlaceOptions {
  readonly json?: boolean;
}

export const command: CliCommand = {
  name: 'baselines',
  summary: 'list saved baselines with model, age and drift',
  configure: (parser) => {
    parser
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml, when there is one)')
      .option('--agent <name>', 'only baselines of this agent')
      .option('--baseline-dir <dir>', "folder of the baselines (default: the spec's baseline_dir)")
      .option('--json', 'as JSON')
      .addHelpText('after', '\nExample:\n  agentci baselines --agent rag-agent');
  },
  run: async ({ options: given, io }) => {
    const options = given as Options;
    const { suite, dir } = await baselinePlaceToRead(options, io);
    const { files, broken } = findBaselines({ dir, agent: options.agent });
    const versions = summarize(files, suite, io.now());
    if (options.json) {
      const unreadable = broken.map(({ file, version, error }) => ({
        file,
        version,
        message: error.message,
      }));
      const document = { schema: 'agentci.baselines/1', dir, baselines: versions, unreadable };
      io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    } else if (versions.length === 0) {
      io.stdout.write(
        `no baselines in ${escapeTerminalLine(dir)}; save one with "agentci save" or "agentci record"\n`,
      );
    } else {
      io.stdout.write(table(versions));
    }
    for (const { error } of broken)
      io.stderr.write(`agentci: ${escapeTerminalLine(error.message)} [${error.code}]\n`);
    return broken.length > 0 ? 2 : 0;
  },
};
