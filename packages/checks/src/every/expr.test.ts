import { describeCheck, evaluate } from '@agentci/testing/check-cases';
import { simpleTrace, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { evaluateLayer } from '../evaluate-layer.ts';
import { check } from './expr.ts';

const run = {
  query: 'hi',
  answer: '{"total": 3, "items": ["a", "b"]}',
  tool_calls: [
    { name: 'search', args: { q: 'x' }, result: 'r', latency_ms: 12 },
    { name: 'pay', args: { amount: 19.5 }, error: 'declined' },
  ],
  cost_usd: 0.01,
  total_tokens: 120,
};

describeCheck(check, {
  sample: { params: 'answer.startsWith("{")', keeps: { answer: '{}' }, breaks: { answer: 'no' } },
  refuses: ['', ' ', 7, [7], true, null],
});

describe('over a run', () => {
  test.each([
    ['size(calls) < 4 && answer.startsWith("{")', 'pass'],
    ['output.total == 3 && size(output.items) == 2', 'pass'],
    ['calls.exists(c, c.name == "pay" && c.args.amount > 19)', 'pass'],
    ['calls[1].error == "declined" && calls[0].error == null', 'pass'],
    ['calls[0].latency_ms <= 12', 'pass'],
    ['trace.cost_usd < 0.02 && trace.total_tokens == 120', 'pass'],
    ['trace.latency_ms < 5', 'error'],
    ['trace.finish == "stop"', 'error'],
    ['size(trace.steps) > 0', 'error'],
    ['calls[0].agent == "x"', 'error'],
    ['size(calls) == 7', 'fail'],
    ['output.nope == 1', 'error'],
    ['vars.x == 1', 'error'],
    ['has(vars.x)', 'fail'],
  ])('%s: %s', (expr, status) => {
    expect(evaluate('correctness', { expr }, run).checks[0]).toMatchObject({ status, limit: 1 });
  });
});

test('a value that was not captured is "could not tell": an error for failing checks, a skip for warning ones', () => {
  const bare = { answer: 'x' };
  expect(evaluate('correctness', { expr: 'size(calls) < 4' }, bare).checks[0]).toMatchObject({
    status: 'error',
  });
  expect(evaluate('path', { expr: 'size(calls) < 4' }, bare).checks[0]).toMatchObject({
    status: 'skip',
    skip_reason: 'not_measured',
    message: 'expr: size(calls) < 4: not known, tool calls were not captured',
  });
  expect(
    evaluate('path', { expr: 'answer == "x" || size(calls) < 4' }, bare).checks[0],
  ).toMatchObject({
    status: 'pass',
  });
});

test('an expression that cannot be evaluated is an error in every layer', () => {
  for (const layer of ['correctness', 'path', 'cost'] as const)
    expect(evaluate(layer, { expr: 'output.nope == 1' }, run).checks[0]).toMatchObject({
      status: 'error',
    });
});

test('variables and the query are there', () => {
  const trace = simpleTrace(run);
  const query = { query: 'hi', vars: { n: 2, who: 'Ann' } };
  const layer = evaluateLayer(
    'path',
    { expr: 'size(calls) == vars.n && query == "hi" && vars.who == "Ann"' },
    {
      trace,
      totals: totals(trace),
      query,
    },
  );
  expect(layer.status).toBe('pass');
});

test('reports the first false expression of a list at its line', () => {
  const trace = simpleTrace(run);
  const location = { file: 's.yaml', line: 9, column: 3 };
  const [found] = evaluateLayer(
    'path',
    { expr: ['true', 'size(calls) == 9'] },
    { trace, totals: totals(trace) },
    {
      locations: { 'path.expr[1]': location },
    },
  ).checks;
  expect(found).toMatchObject({
    status: 'warn',
    location,
    value: 1,
    limit: 2,
    message: 'expr: size(calls) == 9 is false',
  });
});

describe('steps and the reason the model stopped', () => {
  const whole = {
    answer: 'x',
    finish_reason: 'stop',
    tool_calls: [
      { name: 'lookup', args: {}, latency_ms: 3 },
      { name: 'pay', args: {}, error: 'declined' },
    ],
    llm_calls: [{ model: 'm', latency_ms: 7 }],
  };
  test.each([
    ['trace.finish == "stop"', 'pass'],
    ['trace.finish == "tool_calls"', 'fail'],
    ['trace.steps.filter(s, s.kind == "tool").size() == 2', 'pass'],
    ['trace.steps.exists(s, s.status == "error")', 'pass'],
    ['trace.steps.exists(s, s.kind == "llm" && s.name == "m")', 'pass'],
    ['trace.steps.all(s, s.kind != "guardrail" || !s.triggered)', 'pass'],
    ['trace.steps.all(s, s.latency_ms < 100)', 'error'],
  ])('%s: %s', (expr, status) => {
    expect(evaluate('correctness', { expr }, whole).checks[0]).toMatchObject({ status });
  });
});

test.each(['true', '1 < 2', ['answer != "x"', 'true']])(
  'refuses %j, which does not depend on the run',
  (written) => {
    expect(check.inspect!(written, {})).toMatchObject([{ code: 'SPEC_CANNOT_FAIL' }]);
  },
);
