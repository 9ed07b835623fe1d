import { expect, test } from 'vitest';
import { reportContext } from '../../test/support/report-context.ts';
import { checkOf, runOf } from '../../test/support/run-of.ts';
import { summarize } from '../engine/exit-code.ts';
import type { RunResult } from '../results/run-result.ts';
import { reporter } from './console.ts';
import { reportText } from './reporter.ts';

const render = (run: RunResult) => reportText(reporter.render(run, reportContext()));
const strictly = (run: RunResult): RunResult => ({ ...run, summary: summarize(run, { strict: true }) });

test('an exit code of 2 by --strict alone says so and names what was not measured', () => {
  const unmeasured = (id: string) => checkOf(id, 'skip', { skip_reason: 'not_measured' });
  const run = runOf([
    { id: 'q1', status: 'pass', path: [checkOf('path.max_loops', 'pass')], cost: [unmeasured('cost.max_cost_usd')] },
    { id: 'q2', status: 'pass', cost: ['a', 'b', 'c', 'd', 'e'].map((name) => unmeasured(`cost.${name}`)) },
  ]);
  expect(render(strictly(run))).toContain(
    'could not tell: checks that could not be measured count under --strict: q1 cost.max_cost_usd, q2 cost.a, q2 cost.b, q2 cost.c, q2 cost.d and 1 more (exit 2)',
  );
});

test('an exit code of 2 by an error is not put down to --strict', () => {
  const run = runOf([
    { id: 'q1', status: 'error', path: [checkOf('path.max_loops', 'pass')] },
    { id: 'q2', status: 'pass', cost: [checkOf('cost.max_cost_usd', 'skip', { skip_reason: 'not_measured' })] },
  ]);
  expect(render(strictly(run))).toContain('could not tell (exit 2)');
});

test.each([
  { message: 'tool_success: 0.5 of at least 0.9', line: '✗ tool_success: 0.5 of at least 0.9' },
  { message: 'tool_success was not measured: no calls', line: '✗ tool_success was not measured: no calls' },
  { message: 'tool_successes are few', line: '✗ tool_success: tool_successes are few' },
])('a name the message begins with is printed once: $message', ({ message, line }) => {
  const check = checkOf('metric.tool_success', 'fail', { message });
  expect(render(runOf([{ id: 'q', status: 'fail', path: [check] }]))).toContain(`        ${line}\n`);
  expect(render(runOf([], { checks: [check] }))).toContain(`  ${line.replace('✗ ', '✗ metric.')}\n`);
});
