/** A sample of our own Prometheus text. */
interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/**
 * The gauges of a run as an OTLP/JSON metrics request. Converted from the Prometheus text, so both
 * always agree.
 */
export function otlpMetrics(
  prometheus: string,
  options: { agent: string; version: string; timeUnixNano: string },
): object {
  const help = new Map(
    [...prometheus.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, text]) => [name!, text!]),
  );
  const byName = new Map<string, Sample[]>();
  for (const sample of samplesOf(prometheus))
    byName.set(sample.name, [...(byName.get(sample.name) ?? []), sample]);
  return {
    resourceMetrics: [
      {
        resource: { attributes: [attribute('service.name', options.agent)] },
        scopeMetrics: [
          {
            scope: { name: 'agentci', version: options.version },
            metrics: [...byName].map(([name, samples]) => ({
              name,
              description: help.get(name) ?? '',
              gauge: {
                dataPoints: samples.map(({ labels, value }) => ({
                  attributes: [...labels].map(([key, text]) => attribute(key, text)),
                  timeUnixNano: options.timeUnixNano,
                  asDouble: value,
                })),
              },
            })),
          },
        ],
      },
    ],
  };
}

const attribute = (key: string, value: string): object => ({ key, value: { stringValue: value } });

function* samplesOf(text: string): Generator<Sample> {
  for (const line of text.split('\n')) {
    const match = /^([a-z_]\w*)\{(.*)\} (\S+)$/.exec(line);
    if (!match) continue;
    const labels = new Map(
      [...match[2]!.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [
        name!,
        unescapeLabel(value!),
      ]),
    );
    yield { name: match[1]!, labels, value: Number(match[3]) };
  }
}

const unescapeLabel = (value: string): string =>
  value.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
