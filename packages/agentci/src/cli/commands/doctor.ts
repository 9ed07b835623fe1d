import { escapeTerminalLine } from '@agentci/lib/text';
import { createColors } from 'picocolors';
import { examine } from '../../doctor/examine.ts';
import { specPath } from '../../stored-runs/spec-folders.ts';
import type { CliCommand } from '../cli-command.ts';
import { wantsColor } from '../io.ts';

export const command: CliCommand = {
  name: 'doctor',
  summary: 'check everything a run needs, and explain how to fix it',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec', 'agentci_spec.yaml')
      .option('--traces <path>', 'look at these recordings instead of the runner')
      .option(
        '--capture',
        'run the agent once against canned replies, to see which calls come through',
      )
      .option('--json', 'print the findings as JSON')
      .addHelpText(
        'after',
        `
Runs nothing and sends nothing, unless --capture runs the agent, and even then no model is called. Keys are named, never shown.
Exit: 0 a run can reach a verdict (warnings allowed), 1 it cannot: agentci test would exit 2.

Example:
  agentci doctor -c agentci_spec.yaml`,
      ),
  run: async ({ options, io }) => {
    const findings = await examine(specPath(String(options.config), io.cwd), io, {
      nodeVersion: process.versions.node,
      traces: options.traces as string | undefined,
      triesCapture: options.capture === true,
    });
    if (options.json) {
      io.stdout.write(`${JSON.stringify({ schema: 'agentci.doctor/1', findings }, null, 2)}\n`);
    } else {
      const c = createColors(wantsColor(io.stdout, io.env));
      const marks = { ok: c.green('✓'), warn: c.yellow('!'), fail: c.red('✗') };
      for (const { what, status, detail, fix } of findings) {
        io.stdout.write(`${marks[status]} ${what.padEnd(10)} ${escapeTerminalLine(detail)}\n`);
        if (fix !== undefined) io.stdout.write(`             ${c.dim(escapeTerminalLine(fix))}\n`);
      }
    }
    return findings.some(({ status }) => status === 'fail') ? 1 : 0;
  },
};
