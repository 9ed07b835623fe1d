import { defined } from '@agentci/lib/data';
import { escapePrometheusLabel, escapeTerminalLine } from '@agentci/lib/text';
import {
  cellText,
  LAYERS,
  type QueryResult,
  type RunResult,
  type UsageKey,
  usagePerRun,
} from '@agentci/results';
import type { Reporter } from './reporter.ts';

const QUERY_CHARACTERS = 80;

export const reporter: Reporter = {
  name: 'prometheus',
  summary: 'gauges in the Prometheus text format, for dashboards',
  extensions: ['.prom'],
  machineReadable: true,
  render: (run) => ({ text: renderPrometheus(run) }),
};

interface Gauge {
  readonly name: string;
  readonly help: string;
  /** Undefined or null is unknown, and the sample is omitted, never 0. */
  readonly value: (result: QueryResult) => unknown;
}

/** The mean of the runs. */
const used = (key: UsageKey) => (result: QueryResult) => usagePerRun(result)[key];

/** From the shown run. */
const actual = (key: string) => (result: QueryResult) =>
  (result.cost.details.actual as Readonly<Record<string, unknown>> | undefined)?.[key];

const GAUGES: readonly Gauge[] = [
  {
    name: 'agentci_correctness_pass',
    help: 'Whether the correctness layer passed (1) or failed (0).',
    value: ({ correctness: { status } }) =>
      ({ pass: 1, warn: 1, fail: 0, error: undefined, skip: undefined })[status],
  },
  {
    name: 'agentci_tool_recall',
    help: 'Share of the expected tools that were used.',
    value: (r) => r.path.details.tool_recall,
  },
  {
    name: 'agentci_tool_precision',
    help: 'Share of the used tools that were expected.',
    value: (r) => r.path.details.tool_precision,
  },
  {
    name: 'agentci_tool_f1',
    help: 'Harmonic mean of tool recall and precision.',
    value: (r) => r.path.details.tool_f1,
  },
  {
    name: 'agentci_sequence_similarity',
    help: 'Similarity of the tool sequence with the baseline.',
    value: (r) => r.path.details.sequence_similarity,
  },
  {
    name: 'agentci_loops_detected',
    help: 'Consecutive repeats of a tool.',
    value: (r) => r.path.details.loops_detected,
  },
  {
    name: 'agentci_tool_calls',
    help: 'Tool calls made.',
    value: (r) => (r.path.details.tool_calls as { actual?: number } | undefined)?.actual,
  },
  { name: 'agentci_cost_usd', help: 'Cost of the run in US dollars.', value: used('cost_usd') },
  { name: 'agentci_total_tokens', help: 'Tokens used by the run.', value: used('total_tokens') },
  { name: 'agentci_llm_calls', help: 'Model calls made.', value: actual('llm_calls') },
  {
    name: 'agentci_latency_ms',
    help: 'Wall time of the run in milliseconds.',
    value: used('latency_ms'),
  },
  {
    name: 'agentci_ttft_ms',
    help: 'Milliseconds to the first token of a streamed answer.',
    value: actual('ttft_ms'),
  },
  {
    name: 'agentci_trace_warnings',
    help: 'Warnings about the trace of the query.',
    value: ({ warnings = [] }) => (warnings.length > 0 ? warnings.length : undefined),
  },
  {
    name: 'agentci_pass_rate',
    help: 'Share of the decided runs of a query that passed.',
    value: ({ pass_rate }) =>
      pass_rate && pass_rate.decided > 0 ? pass_rate.passed / pass_rate.decided : undefined,
  },
];

function* renderPrometheus(run: RunResult): Generator<string> {
  const labels = new Map(run.results.map((result) => [result, labelsOf(run, result)]));
  for (const { name, help, value } of GAUGES) {
    const samples = run.results.flatMap((result) => {
      const measured = value(result);
      return typeof measured === 'number' && Number.isFinite(measured)
        ? [`${name}{${labels.get(result)}} ${measured}\n`]
        : [];
    });
    if (samples.length > 0) yield `${head(name, help)}${samples.join('')}`;
  }
  if (run.results.length > 0) {
    yield head(
      'agentci_layer_status',
      'The status of a layer: the series of the present status is 1.',
    );
    for (const result of run.results) {
      for (const layer of LAYERS)
        yield `agentci_layer_status{${labels.get(result)},layer="${layer}",status="${result[layer].status}"} 1\n`;
    }
  }
  const measured = run.results.flatMap((result) =>
    Object.entries(result.metrics).flatMap(([name, { value }]) =>
      typeof value === 'number' && Number.isFinite(value)
        ? [
            `agentci_metric{${labels.get(result)},metric="${escapePrometheusLabel(escapeTerminalLine(name))}"} ${value}\n`,
          ]
        : [],
    ),
  );
  if (measured.length > 0)
    yield `${head('agentci_metric', 'Value of a metric the spec asks for; one that was not measured is left out.')}${measured.join('')}`;
  const agent = `agent="${escapePrometheusLabel(escapeTerminalLine(run.agent))}"`;
  const overall = Object.entries(run.metrics ?? {}).flatMap(([name, { value }]) =>
    typeof value === 'number' && Number.isFinite(value)
      ? [
          `agentci_run_metric{${agent},metric="${escapePrometheusLabel(escapeTerminalLine(name))}"} ${value}\n`,
        ]
      : [],
  );
  if (overall.length > 0)
    yield `${head('agentci_run_metric', 'Value of a metric that is measured once over the whole run.')}${overall.join('')}`;
  yield* passHatSamples(run, agent);
  yield head('agentci_queries', 'Queries of the run by status.');
  const { passed, warnings, failed, errors, skipped, exit_code } = run.summary;
  for (const [status, count] of Object.entries({
    pass: passed - warnings,
    warn: warnings,
    fail: failed,
    error: errors,
    skip: skipped,
  })) {
    yield `agentci_queries{${agent},status="${status}"} ${count}\n`;
  }
  yield `${head('agentci_exit_code', 'Exit code of the run: 0 nothing failed, 1 a check failed, 2 could not tell.')}agentci_exit_code{${agent}} ${exit_code}\n`;
}

function* passHatSamples(run: RunResult, agent: string): Generator<string> {
  const { pass_hat_k = [] } = run.summary;
  if (pass_hat_k.length === 0) return;
  yield head('agentci_pass_hat_k', 'How often all of k runs of a query pass, over the queries.');
  for (const { k, value } of pass_hat_k) yield `agentci_pass_hat_k{${agent},k="${k}"} ${value}\n`;
  yield head('agentci_pass_hat_k_se', 'Standard error of agentci_pass_hat_k over the queries.');
  for (const { k, se } of pass_hat_k)
    if (se !== null) yield `agentci_pass_hat_k_se{${agent},k="${k}"} ${se}\n`;
}

const head = (name: string, help: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;

/** The id makes the series unique. The text is for people. */
function labelsOf(run: RunResult, { id, query, cell }: QueryResult): string {
  const text = query.length > QUERY_CHARACTERS ? `${query.slice(0, QUERY_CHARACTERS - 1)}…` : query;
  return Object.entries(
    defined({
      agent: run.agent,
      query_id: id,
      query: text,
      cell: cell === undefined ? undefined : cellText(cell),
    }),
  )
    .map(([name, value]) => `${name}="${escapePrometheusLabel(escapeTerminalLine(value))}"`)
    .join(',');
}
