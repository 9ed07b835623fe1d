import { describeCheck, evaluate } from '@agentci/testing/check-cases';
import { simpleTrace, totals } from '@agentci/trace';
import { expect, test } from 'vitest';
import { type CheckOutcome, held, unmeasured, violated } from '../check.ts';
import { evaluateLayer } from '../evaluate-layer.ts';
import { check } from './code.ts';

describeCheck(check, {
  refuses: [
    '',
    7,
    { module: '' },
    { command: [] },
    { command: ['a'], module: 'b' },
    { command: ['a'], timeout_ms: 0 },
    null,
  ],
});

const trace = simpleTrace({ answer: 'x' });
const judged = (
  layer: 'correctness' | 'path',
  code: unknown,
  asked: ReadonlyMap<unknown, CheckOutcome>,
) => evaluateLayer(layer, { code }, { trace, totals: totals(trace), asked }).checks[0];

test('code that was not run is an error in every layer', () => {
  for (const layer of ['correctness', 'path', 'cost'] as const)
    expect(evaluate(layer, { code: './a.ts#b' }, { answer: 'x' }).checks[0]).toMatchObject({
      status: 'error',
    });
});

test.each([
  { when: 'it passed', outcome: held('ok'), correctness: 'pass', path: 'pass' },
  { when: 'it failed', outcome: violated('no'), correctness: 'fail', path: 'warn' },
  {
    when: 'it gave no verdict',
    outcome: unmeasured('?', { severity: 'fail' }),
    correctness: 'error',
    path: 'error',
  },
])('$when', ({ outcome, correctness, path }) => {
  const asked = new Map([['./a.ts', outcome]]);
  expect(judged('correctness', './a.ts', asked)).toMatchObject({ status: correctness, limit: 1 });
  expect(judged('path', './a.ts', asked)).toMatchObject({ status: path });
});

test('of several all must pass', () => {
  const asked = new Map([
    ['./a.ts', held('ok')],
    ['./b.ts', violated('b says no')],
  ]);
  expect(judged('correctness', ['./a.ts', './b.ts'], asked)).toMatchObject({
    status: 'fail',
    message: 'b says no',
    limit: 2,
  });
});
