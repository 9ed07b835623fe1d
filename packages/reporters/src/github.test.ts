import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { reporter } from './github.ts';
import { type ReportContext, reportText } from './reporter.ts';

const context = reportContext();
const lines = (results: ShortResult[], overrides: Partial<ReportContext> = {}) => {
  const report = reporter.render(runOf(results), { ...context, ...overrides });
  const { stepSummary } = report;
  const all = reportText(report).split('\n').filter(Boolean);
  return {
    all,
    errors: all.filter((line) => line.startsWith('::error')),
    warnings: all.filter((line) => line.startsWith('::warning')),
    tableRows: (stepSummary ?? '').split('\n').filter((line) => line.startsWith('| path.')),
  };
};
const many = (count: number, status: 'warn' | 'fail'): ShortResult[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `q${i}`,
    status,
    path: [checkOf('path.max_loops', status)],
  }));

// Vectors acg-annot-01 and acg-annot-02: only warnings are capped.
test('fifteen warnings: ten annotations, five in the step summary', () => {
  const { errors, warnings, tableRows } = lines(many(15, 'warn'));
  expect([errors.length, warnings.length, tableRows.length]).toEqual([0, 10, 5]);
});

test('fifteen failures: fifteen annotations', () => {
  expect(lines(many(15, 'fail')).errors).toHaveLength(15);
});

test('without a step summary the overflow is counted in words', () => {
  const { warnings, all } = lines(many(12, 'warn'), { hasStepSummary: false });
  expect(warnings).toHaveLength(10);
  expect(all.at(-1)).toBe('2 more warnings are not shown as annotations');
});

test('an expected failure is not annotated', () => {
  expect(
    lines([
      {
        id: 'x',
        status: 'skip',
        xfail: { reason: 'known', status: 'fail' },
        path: [checkOf('path.max_loops', 'fail')],
      },
    ]).all,
  ).toEqual([]);
});

test('a failure within the allowed rate is a warning, since the run does not fail for it', () => {
  const { errors, warnings } = lines([
    { id: 'x', status: 'pass', path: [checkOf('path.max_loops', 'fail')] },
  ]);
  expect([errors.length, warnings.length]).toEqual([0, 1]);
});

test('a query that could not be judged is an error on the line of the query', () => {
  const [line] = lines([
    { id: 'x', status: 'error', error: { kind: 'agent', message: 'boom' } },
  ]).errors;
  expect(line).toBe(
    '::error file=agentci_spec.yaml,line=4,col=5,title=x::[ERROR] question of x: boom',
  );
});

test('a check is an error on its own line in the file as the checkout names it, a long question cut short', () => {
  const location = { file: 'a,b:c.yaml', line: 7, column: 9 };
  const check = checkOf('path.max_loops', 'fail', { message: '50% of\nloops', location });
  const { errors } = lines([{ id: 'x', status: 'fail', query: 'q'.repeat(70), path: [check] }], {
    publicPath: (file) => `sub/${file}`,
  });
  expect(errors).toEqual([
    `::error file=sub/a%2Cb%3Ac.yaml,line=7,col=9,title=path.max_loops::[PATH] ${'q'.repeat(59)}…: 50%25 of loops`,
  ]);
});

test('an id with a comma or a colon stays one title', () => {
  const [line] = lines([
    { id: 'a,b: c', status: 'error', error: { kind: 'agent', message: 'boom' } },
  ]).errors;
  expect(line).toContain(',title=a%2Cb%3A c::');
});

test('a warning next to a failure stays a warning, and a check without a location gets that of its query', () => {
  const { errors, warnings } = lines([
    {
      id: 'x',
      status: 'fail',
      path: [checkOf('path.max_loops', 'fail')],
      cost: [checkOf('cost.max_cost_usd', 'warn')],
    },
  ]);
  expect(errors).toEqual([
    '::error file=agentci_spec.yaml,line=4,col=5,title=path.max_loops::[PATH] question of x: path.max_loops is fail',
  ]);
  expect(warnings).toEqual([
    '::warning file=agentci_spec.yaml,line=4,col=5,title=cost.max_cost_usd::[COST] question of x: cost.max_cost_usd is warn',
  ]);
});

test('a check of the whole run is an error or a warning, as it is', () => {
  const checks = [
    checkOf('traces.readable', 'error'),
    checkOf('metric.drift', 'warn'),
    checkOf('metric.tone', 'pass'),
  ];
  expect(reportText(reporter.render(runOf([], { checks }), context))).toBe(
    '::error title=traces.readable::traces.readable is error\n::warning title=metric.drift::metric.drift is warn\n',
  );
});

test('a warning in the step summary says where it is', () => {
  const { tableRows } = lines(many(11, 'warn'), { publicPath: (file) => `sub/${file}` });
  expect(
    tableRows.map((row) => row.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))),
  ).toEqual([
    '| path.max_loops | [PATH] question of q10: path.max_loops is warn | sub/agentci_spec.yaml:4 |',
  ]);
});
