import { expect, test } from 'vitest';
import { reportContext } from '../../test/support/report-context.ts';
import { checkOf, runOf, type ShortResult } from '../../test/support/run-of.ts';
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
  Array.from({ length: count }, (_, i) => ({ id: `q${i}`, status, path: [checkOf('path.max_loops', status)] }));

// Vectors acg-annot-01 and acg-annot-02: the cap is for warnings alone.
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
  const { errors, warnings } = lines([{ id: 'x', status: 'pass', path: [checkOf('path.max_loops', 'fail')] }]);
  expect([errors.length, warnings.length]).toEqual([0, 1]);
});

test('a query that could not be judged is an error on the line of the query', () => {
  const [line] = lines([{ id: 'x', status: 'error', error: { kind: 'agent', message: 'boom' } }]).errors;
  expect(line).toBe('::error file=agentci_spec.yaml,line=4,col=5,title=x::[ERROR] question of x: boom');
});
