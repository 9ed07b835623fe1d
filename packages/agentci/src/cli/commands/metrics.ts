import { present } from '@agentci/lib/data';
import type { Metric } from '@agentci/metrics';
import { findMetric, metricNames } from '@agentci/metrics';
import type { CliCommand } from '../cli-command.ts';

export const command: CliCommand = {
  name: 'metrics',
  summary: 'list the metrics with layer, unit and requirements',
  configure: (parser) => {
    parser.option('--json', 'as JSON').addHelpText('after', '\nExample:\n  agentci metrics --json');
  },
  run: async ({ options, io }) => {
    const metrics = metricNames().flatMap((name) => findMetric(name) ?? []);
    io.stdout.write(
      options.json
        ? `${JSON.stringify({ schema: 'agentci.metrics/1', metrics: metrics.map(facts) }, null, 2)}\n`
        : table(metrics),
    );
    return 0;
  },
};

const facts = ({ name, group, layer, better, unit, scope, needs, summary, params }: Metric) => ({
  name,
  group,
  layer,
  better,
  unit,
  scope,
  needs,
  summary,
  params: Object.keys((params?.() as { shape?: object } | undefined)?.shape ?? {}),
});

function table(metrics: readonly Metric[]): string {
  const lines: string[] = [];
  for (const group of [...new Set(metrics.map((metric) => metric.group))]) {
    lines.push(`${group}`);
    for (const { name, layer, better, unit, scope, needs, summary } of metrics.filter(
      (metric) => metric.group === group,
    )) {
      const sign = better === 'higher' ? 'higher is better' : 'lower is better';
      const facts = present([
        layer,
        unit,
        sign,
        scope === 'suite' ? 'over the whole run' : undefined,
      ]).join(', ');
      lines.push(
        `  ${name.padEnd(28)} ${summary}`,
        `  ${''.padEnd(28)} ${facts}; needs ${needs.join('; ')}`,
      );
    }
    lines.push('');
  }
  return `${lines.join('\n')}A bound gates: "tool_success: 0.9" under "metrics:" of a query or of the spec.\n`;
}
