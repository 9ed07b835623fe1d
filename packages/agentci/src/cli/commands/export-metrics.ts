import { resolve } from 'node:path';
import { writeFileAtomic } from '@agentci/lib/files';
import { reportText } from '@agentci/reporters';
import { reporter } from '@agentci/reporters/prometheus';
import { readRun } from '@agentci/run';
import { PLAIN, send } from '../../export/export-metrics.ts';
import { otlpMetrics } from '../../export/otlp-metrics.ts';
import { specRuns, storedRunId } from '../../stored-runs/stored-run.ts';
import type { CliCommand } from '../cli-command.ts';

interface ExportOptions {
  readonly config?: string;
  readonly run?: string;
  readonly output?: string;
  readonly pushgateway?: string;
  readonly otlp?: string;
  readonly job: string;
}

export const command: CliCommand = {
  name: 'export-metrics',
  summary: 'send the numbers of a stored run to Prometheus, a Pushgateway or OTLP',
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
  run: async ({ options, io }) => {
    const { config, run: id, output, pushgateway, otlp, job } = options as unknown as ExportOptions;
    const { root, latest } = specRuns(config, io);
    const run = readRun(root, storedRunId(root, id, latest));
    const text = reportText(reporter.render(run, { ...PLAIN, version: io.version }));
    if (output !== undefined) writeFileAtomic(resolve(io.cwd, output), text);
    if (pushgateway !== undefined) {
      const url = `${pushgateway.replace(/\/$/, '')}/metrics/job/${encodeURIComponent(job)}/agent/${encodeURIComponent(run.agent)}`;
      await send(
        url,
        { method: 'PUT', body: text, headers: { 'content-type': 'text/plain; version=0.0.4' } },
        io,
      );
    }
    if (otlp !== undefined) {
      const at =
        run.started_at === undefined
          ? io.now()
          : Date.parse(run.started_at) + (run.duration_ms ?? 0);
      const body = otlpMetrics(text, {
        agent: run.agent,
        version: io.version,
        timeUnixNano: `${Math.round(at)}000000`,
      });
      await send(
        otlp,
        {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        },
        io,
      );
    }
    if (output === undefined && pushgateway === undefined && otlp === undefined)
      io.stdout.write(text);
    return 0;
  },
};
