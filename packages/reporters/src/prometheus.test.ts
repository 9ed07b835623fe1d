import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { reporter } from './prometheus.ts';
import { reportText } from './reporter.ts';

const lines = (run: ReturnType<typeof runOf>, name: string) =>
  reportText(reporter.render(run, reportContext()))
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`));
const A = 'agent="demo",query_id="a",query="question of a"';

test.each([
  { status: 'pass', samples: [`agentci_correctness_pass{${A}} 1`] },
  { status: 'warn', samples: [`agentci_correctness_pass{${A}} 1`] },
  { status: 'fail', samples: [`agentci_correctness_pass{${A}} 0`] },
  { status: 'error', samples: [] },
  { status: 'skip', samples: [] },
] as const)('a correctness layer that is $status', ({ status, samples }) => {
  const run = runOf([
    { id: 'a', status, correctness: [checkOf('correctness.exact_match', status)] },
  ]);
  expect(lines(run, 'agentci_correctness_pass')).toEqual(samples);
});

test('each number is in the gauge of its name, and other values are in none', () => {
  const run = runOf([{ id: 'a', status: 'pass' }]);
  const [result] = run.results;
  Object.assign(result!.path.details, {
    tool_recall: 0.1,
    tool_precision: 0.2,
    tool_f1: 0.3,
    sequence_similarity: Number.NaN,
    loops_detected: 4,
    tool_calls: { actual: 5 },
  });
  result!.cost.details.actual = { cost_usd: 0.6, total_tokens: 7, llm_calls: 8, latency_ms: null };
  result!.pass_rate = { passed: 3, decided: 4, min: 1 };
  const values = Object.fromEntries(
    [
      ...reportText(reporter.render(run, reportContext())).matchAll(
        /^agentci_(\w+)\{.*query_id="a".*\} (\S+)$/gm,
      ),
    ].map(([, name, value]) => [name, Number(value)]),
  );
  expect(values).toEqual({
    tool_recall: 0.1,
    tool_precision: 0.2,
    tool_f1: 0.3,
    loops_detected: 4,
    tool_calls: 5,
    cost_usd: 0.6,
    total_tokens: 7,
    llm_calls: 8,
    pass_rate: 0.75,
    layer_status: 1,
  });
});

test('each layer has its own status', () => {
  const run = runOf([{ id: 'a', status: 'warn', path: [checkOf('path.max_loops', 'warn')] }]);
  expect(
    lines(run, 'agentci_layer_status').map((line) => line.slice(line.indexOf('layer='))),
  ).toEqual([
    'layer="correctness",status="skip"} 1',
    'layer="path",status="warn"} 1',
    'layer="cost",status="skip"} 1',
  ]);
});

test('metrics of queries and of the run, if measured', () => {
  const metrics = { tone: { value: 0.5, detail: {} }, cost: { value: null, detail: {} } };
  const run = runOf([{ id: 'a', status: 'pass', metrics }], { metrics });
  expect(lines(run, 'agentci_metric')).toEqual([`agentci_metric{${A},metric="tone"} 0.5`]);
  expect(lines(run, 'agentci_run_metric')).toEqual([
    'agentci_run_metric{agent="demo",metric="tone"} 0.5',
  ]);
});

test('queries are counted once each, by status', () => {
  const run = runOf(
    (['pass', 'warn', 'warn', 'fail', 'error', 'skip'] as const).map((status, i) => ({
      id: `q${i}`,
      status,
    })),
  );
  expect(lines(run, 'agentci_queries').map((line) => line.slice(line.indexOf('status=')))).toEqual([
    'status="pass"} 1',
    'status="warn"} 2',
    'status="fail"} 1',
    'status="error"} 1',
    'status="skip"} 1',
  ]);
});

test('a long question is cut, since its id names the series', () => {
  const [line] = lines(
    runOf([{ id: 'a', status: 'pass', query: 'x'.repeat(500) }]),
    'agentci_layer_status',
  );
  expect(line).toContain(`query="${'x'.repeat(79)}…"`);
});
