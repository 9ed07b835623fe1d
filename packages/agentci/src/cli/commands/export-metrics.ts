import { type ExportFlags, exportMetrics } from '../../export/export-metrics.ts';
import type { CliCommand } from '../cli-command.ts';

export const command: CliCommand = {
  name: 'export-metrics',
  summary: 'export the metrics of a stored run',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec whose runs to use (default: agentci_spec.yaml)')
      .option(
        '--run <id>',
        'the stored run (default, and "latest": the newest finished one of the spec)',
      )
      .option('-o, --output <file>', 'write the Prometheus text into a file')
      .option('--pushgateway <url>', 'push it to a Pushgateway')
      .option('--otlp <url>', 'send it as OTLP/HTTP JSON, e.g. http://127.0.0.1:4318/v1/metrics')
      .option('--job <name>', "the Pushgateway's job", 'agentci')
      .addHelpText(
        'after',
        `
Without a target the Prometheus text goes to stdout. A value that is not known is absent, never 0.

Example:
  agentci export-metrics -o agentci.prom`,
      ),
  run: ({ options, io }) => exportMetrics(options as unknown as ExportFlags, io),
};
