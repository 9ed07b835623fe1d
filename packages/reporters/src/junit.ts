import { present } from '@agentci/lib/data';
import { escapeXmlAttribute, escapeXmlText } from '@agentci/lib/text';
import { caseText, LAYERS, type QueryResult, type RunResult, usagePerRun } from '@agentci/results';
import { findingsOfQuery } from './findings.ts';
import type { Reporter } from './reporter.ts';

export const reporter: Reporter = {
  name: 'junit',
  summary: 'JUnit XML, for test tabs of CI systems',
  extensions: ['.xml'],
  machineReadable: true,
  render: (run) => ({ text: renderJunit(run) }),
};

/** One test case a query, in the form Jenkins and GitLab agree on: a verdict first, then output. */
function* renderJunit(run: RunResult): Generator<string> {
  const runFailures = run.checks.filter((check) => check.status === 'fail');
  const runErrors = run.checks.filter((check) => check.status === 'error');
  const counts = attributes({
    tests: run.summary.total + runErrors.length + runFailures.length,
    failures: run.summary.failed + runFailures.length,
    errors: run.summary.errors + runErrors.length,
    skipped: run.summary.skipped,
    time: seconds(run.duration_ms),
  });
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield `<testsuites${attributes({ name: 'agentci' })}${counts}>\n`;
  const timestamp =
    run.started_at === undefined ? '' : attributes({ timestamp: run.started_at.slice(0, 19) });
  yield `  <testsuite${attributes({ name: run.agent })}${counts}${timestamp}>\n`;
  yield `    <properties>\n      ${property('spec', run.spec.file)}\n      ${property('run_id', run.run_id)}\n${passHat(run)}    </properties>\n`;
  for (const check of [...runFailures, ...runErrors]) {
    const tag = check.status === 'fail' ? 'failure' : 'error';
    yield `    <testcase${attributes({ name: check.id, classname: run.agent, time: '0' })}>\n`;
    yield `      <${tag}${attributes({ message: check.message, type: check.id })}/>\n    </testcase>\n`;
  }
  for (const result of run.results) yield testCase(result, run.agent);
  yield '  </testsuite>\n</testsuites>\n';
}

const passHat = ({ summary }: RunResult): string =>
  (summary.pass_hat_k ?? [])
    .flatMap(({ k, value, se }) =>
      present([
        `      ${property(`pass_hat_${k}`, String(value))}\n`,
        se === null ? undefined : `      ${property(`pass_hat_${k}_se`, String(se))}\n`,
      ]),
    )
    .join('');

function testCase(result: QueryResult, agent: string): string {
  const { latency_ms } = usagePerRun(result);
  const lines = [
    `    <testcase${attributes({ name: caseText(result), classname: agent, time: seconds(latency_ms ?? undefined) })}>`,
    '      <properties>',
    `        ${property('query', result.query)}`,
    ...Object.entries(result.cell ?? {}).map(
      ([name, value]) => `        ${property(`cell.${name}`, value)}`,
    ),
    ...LAYERS.map((layer) => `        ${property(layer, result[layer].status)}`),
    ...Object.entries(result.metrics).map(
      ([name, { value }]) =>
        `        ${property(`metric.${name}`, value === null ? 'not measured' : String(value))}`,
    ),
    '      </properties>',
    ...verdict(result),
  ];
  const warnings = findingsOfQuery(result).filter(({ level }) => level === 'warning');
  if (warnings.length > 0) {
    const text = warnings
      .map(({ checkId, message }) => `warning: ${checkId}: ${message}`)
      .join('\n');
    lines.push(`      <system-out>${body(text)}</system-out>`);
  }
  if (result.error?.stderr)
    lines.push(`      <system-err>${body(result.error.stderr)}</system-err>`);
  lines.push('    </testcase>');
  return `${lines.join('\n')}\n`;
}

function verdict(result: QueryResult): string[] {
  const blocking = findingsOfQuery(result).filter(({ level }) => level === 'error');
  const element = (tag: string): string => {
    const [first] = blocking;
    const message = first?.message ?? `the query is ${result.status}`;
    const text = blocking
      .map(
        ({ checkId, message: text, location }) =>
          `${checkId}: ${text}${location ? ` (${location.file}:${location.line}:${location.column})` : ''}`,
      )
      .join('\n');
    return `      <${tag}${attributes({ message, type: first?.checkId ?? 'agentci' })}>${body(text)}</${tag}>`;
  };
  switch (result.status) {
    case 'fail':
      return [element('failure')];
    case 'error':
      return [element('error')];
    case 'skip': {
      const why = result.xfail
        ? `expected failure: ${result.xfail.reason}`
        : (result.skip?.reason ?? result.not_run ?? 'no check was decided');
      return [`      <skipped${attributes({ message: why })}/>`];
    }
    default:
      return [];
  }
}

/** Line ends as references: a line of an answer must not be at the start of a line of a CI log. */
const body = (text: string): string => escapeXmlText(text).replaceAll('\n', '&#10;');

const seconds = (ms: number | undefined): string => ((ms ?? 0) / 1000).toFixed(3);

const property = (name: string, value: string): string =>
  `<property${attributes({ name, value })}/>`;

const attributes = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXmlAttribute(String(value))}"`)
    .join('');
