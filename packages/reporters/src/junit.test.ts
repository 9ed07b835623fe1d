import type { RunResult } from '@agentci/results';
import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { reporter } from './junit.ts';
import { reportText } from './reporter.ts';

const render = (run: RunResult) => reportText(reporter.render(run, reportContext()));
/** What is in the test case of the only query, after its properties. */
const verdictOf = (result: ShortResult) =>
  render(runOf([result]))
    .split('</properties>\n')[2]!
    .split('    </testcase>')[0]!
    .trim();
const failing = (message: string) => checkOf('path.max_loops', 'fail', { message });

test.each<{ what: string; result: ShortResult; xml: string }>([
  {
    what: 'a pass',
    result: { id: 'q', status: 'pass', path: [checkOf('path.max_loops', 'pass')] },
    xml: '',
  },
  {
    what: 'a failure with every check that failed, and where',
    result: {
      id: 'q',
      status: 'fail',
      path: [
        failing('one'),
        checkOf('path.rules', 'fail', {
          message: 'two',
          location: { file: 'p.yaml', line: 2, column: 3 },
        }),
      ],
    },
    xml: '<failure message="one" type="path.max_loops">path.max_loops: one (agentci_spec.yaml:4:5)&#10;path.rules: two (p.yaml:2:3)</failure>',
  },
  {
    what: 'an error with what the agent printed',
    result: {
      id: 'q',
      status: 'error',
      error: { kind: 'agent', message: 'boom', stderr: 'a\n<b>' },
    },
    xml: '<error message="boom" type="query.error">query.error: boom (agentci_spec.yaml:4:5)</error>\n      <system-err>a&#10;&lt;b&gt;</system-err>',
  },
  {
    what: 'a warning',
    result: {
      id: 'q',
      status: 'warn',
      path: [checkOf('path.max_loops', 'warn', { message: 'two' })],
    },
    xml: '<system-out>warning: path.max_loops: two</system-out>',
  },
  {
    what: 'an expected failure',
    result: {
      id: 'q',
      status: 'skip',
      xfail: { reason: 'known', status: 'fail' },
      path: [failing('one')],
    },
    xml: '<skipped message="expected failure: known"/>',
  },
  {
    what: 'a query not run',
    result: { id: 'q', status: 'skip', not_run: 'stopped' },
    xml: '<skipped message="stopped"/>',
  },
  {
    what: 'a query without a verdict',
    result: { id: 'q', status: 'skip' },
    xml: '<skipped message="no check was decided"/>',
  },
])('$what', ({ result, xml }) => {
  expect(verdictOf(result)).toBe(xml);
});

test('counts, times, the status of each layer, and metrics that were not measured', () => {
  const run = runOf([
    {
      id: 'q',
      status: 'pass',
      query: 'a "b"\nc',
      path: [checkOf('path.max_loops', 'pass')],
      metrics: { cost: { value: null, detail: {} }, tone: { value: 0.5, detail: {} } },
    },
  ]);
  run.results[0]!.cost.details.actual = { latency_ms: 1234 };
  const text = render({ ...run, duration_ms: 2500, started_at: '2026-01-02T03:04:05.678Z' });
  expect(text).toContain(
    '<testsuite name="demo" tests="1" failures="0" errors="0" skipped="0" time="2.500" timestamp="2026-01-02T03:04:05">',
  );
  expect(text).toContain('<testcase name="q" classname="demo" time="1.234">');
  expect(
    [...text.matchAll(/<property name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name, value]) => `${name}: ${value}`,
    ),
  ).toEqual([
    'spec: agentci_spec.yaml',
    'run_id: run-1',
    'query: a &quot;b&quot;&#10;c',
    'correctness: skip',
    'path: pass',
    'cost: skip',
    'metric.cost: not measured',
    'metric.tone: 0.5',
  ]);
});

test('a check of the whole run that failed or could not tell is a test case, and is counted', () => {
  const text = render(
    runOf([{ id: 'q', status: 'pass' }], {
      checks: [
        checkOf('metric.privacy_budget', 'fail', { message: 'spent' }),
        checkOf('traces.readable', 'error', { message: 'cut off' }),
        checkOf('metric.drift', 'pass'),
      ],
    }),
  );
  expect(text).toContain('tests="3" failures="1" errors="1" skipped="0"');
  expect(
    [...text.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<(failure|error) message="([^"]*)"/g)].map(
      ([, ...part]) => part,
    ),
  ).toEqual([
    ['metric.privacy_budget', 'failure', 'spent'],
    ['traces.readable', 'error', 'cut off'],
  ]);
});
