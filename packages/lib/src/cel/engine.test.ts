import { describe, expect, test } from 'vitest';
import { compileExpression } from './engine.ts';
import { type CelVariables, NotCaptured } from './expression.ts';

const VARIABLES: CelVariables = {
  answer: 'string',
  calls: 'list',
  vars: 'map',
  output: 'dyn',
  hidden: 'string',
};

function valuesOf(): Record<string, unknown> {
  const values: Record<string, unknown> = {
    answer: 'Hello',
    vars: { n: 3, f: 1.5 },
    output: { a: 1, list: [1, 2.5], nothing: null },
    calls: [{ name: 'a', args: { x: 1 } }, { name: 'b' }],
  };
  Object.defineProperty(values, 'hidden', {
    get: () => {
      throw new NotCaptured('hidden was not captured');
    },
  });
  return values;
}

function run(text: string): unknown {
  const compiled = compileExpression(text, VARIABLES);
  if (!compiled.ok) return `${compiled.problem.offset}: ${compiled.problem.message}`;
  const result = compiled.program.run(valuesOf());
  return result.kind === 'value'
    ? result.value
    : `${result.kind}: ${result.kind === 'error' ? result.message : result.what}`;
}

describe('values', () => {
  test.each([
    ['answer == "Hello"', true],
    ['size(calls) == 2', true],
    ['vars.n + 1 == 4', true],
    ['vars.f * 2 == 3.0', true],
    ['vars.n / 2 == 1.5', true],
    ['sum(output.list) == 3.5', true],
    ['calls.exists(c, c.name == "b")', true],
    ['calls.all(c, c.name != "c")', true],
    ['answer.matches("^He")', true],
    ['answer.matches("^he")', false],
    ['calls.filter(c, c.name.matches("a")).size() == 1', true],
    ['"matches" == "matches" && "x".matches("x")', true],
  ])('%s is %s', (text, value) => {
    expect(run(text)).toBe(value);
  });
});

describe('whole and fractional numbers with the same value are equal', () => {
  test.each([
    ['sum([1, 2, 3]) == 6', true],
    ['6 == sum([1, 2, 3])', true],
    ['sum([1, 2]) != 3', false],
    ['1 == 1.0', true],
    ['1.5 == 1', false],
    ['size(calls) == 2.0', true],
    ['sum(output.list) in [3.5]', true],
    ['sum([1, 2]) in [3, 4]', true],
    ['2 in [2.0]', true],
    ['2 in [2.5]', false],
    ['vars.n in [1, 2, 3]', true],
    ['vars.n in [1, 2]', false],
    ['vars.n in [1.5, 3.0]', true],
    ["vars.n in [1, 'a']", false],
    ["vars.n in ['a', 3]", true],
    ['vars.n in []', false],
    ['3 in [vars.n]', true],
    ['1 in output.list', true],
    ['2.5 in output.list', true],
    ['7 in output.list', false],
    ['vars.n in [3] && 2 in [2.0] && !(1.5 in [1, 2])', true],
    ['[1, 2].all(x, x in [1.0, 2.0])', true],
    ['vars.n == 3 && vars.n == 3.0', true],
    ['vars.n % 2 == 1', true],
    ['sum([1, 2]) + 1 == 4', true],
    ['sum([1, 2]) > 2', true],
  ])('%s is %s', (text, value) => {
    expect(run(text)).toBe(value);
  });
});

describe('has() asks a map', () => {
  test.each([
    ['has(output.a)', true],
    ['has(output.b)', false],
    ['!has(vars.x)', true],
    ['has(output.nothing)', true],
    [
      '!has(output.nothing.error)',
      'error: has(): no field "error" can be in null, only in an object',
    ],
    [
      '!has(output.list.error)',
      'error: has(): no field "error" can be in a list, only in an object',
    ],
    [
      '!has(output.a.error)',
      'error: has(): no field "error" can be in a number, only in an object',
    ],
    ['has(output.no.such)', expect.stringMatching(/^error: no such key: no/)],
    ['output.nothing != null && has(output.nothing.error)', false],
    ['"has(x)" == "has(x)" && has(output.a)', true],
    ['has(output)', expect.stringMatching(/has\(\) takes a field/)],
  ])('%s is %s', (text, value) => {
    expect(run(text)).toEqual(value);
  });
});

describe('fields that are known', () => {
  const known: CelVariables = {
    calls: { items: ['name', 'args', 'error'] },
    trace: { fields: ['cost_usd', 'models', 'steps'], lists: { steps: ['kind', 'name'] } },
    output: 'dyn',
  };
  test.each([
    ['trace.cost_us < 1.0', 6, 'cost_usd'],
    ['has(trace.cost_us)', 10, 'cost_usd'],
    ['trace["model"] == []', 6, 'models'],
    ['calls[0].nme == "a"', 9, 'name'],
    ['calls.exists(c, c.nam == "a")', 18, 'name'],
    ['calls.filter(c, has(c.err)).size() == 0', 22, undefined],
    ['calls.filter(c, c.name == "a").all(d, d.arg.x == 1)', 40, 'args'],
    ['trace.steps.exists(s, s.knd == "llm")', 24, 'kind'],
    ['cel.bind(t, trace, t.modls == [])', 21, 'models'],
    ['!(output.x == 1 || calls[size(calls) - 1].errr == null)', 42, 'error'],
  ])('%s is refused at character %i', (text, offset, near) => {
    const compiled = compileExpression(text, known);
    const way = near === undefined ? 'there are' : `did you mean "${near}"`;
    expect(compiled).toMatchObject({
      ok: false,
      problem: { offset, message: expect.stringContaining(way) },
    });
  });

  test.each([
    'calls.exists(c, c.args.anything == 1)',
    'output.calls.exists(c, c.whatever == 1)',
    'calls.map(c, c.args).exists(c, c.whatever == 1)',
    'calls.exists(trace, trace.name == "a")',
  ])('%s is fine', (text) => {
    expect(compileExpression(text, known)).toMatchObject({ ok: true });
  });
});

describe('values that were not captured', () => {
  test.each([
    ['hidden == "x"', 'unknown: hidden was not captured'],
    ['false && hidden == "x"', false],
    ['hidden == "x" && false', false],
    ['true || hidden == "x"', true],
    ['hidden == "x" || true', true],
    ['hidden == "x" || false', 'unknown: hidden was not captured'],
    ['!(hidden == "x")', 'unknown: hidden was not captured'],
    ['vars.n == 3 ? true : hidden == "x"', true],
  ])('%s is %s', (text, value) => {
    expect(run(text)).toBe(value);
  });
});

describe('mistakes are found before anything runs, at their character', () => {
  test.each([
    ['answr == "x"', /^0: unknown variable: answr/],
    ['true && answr == "x"', /^8: /],
    ['answer.startsWith(1)', /^0: found no matching overload/],
    ['size(calls)', /^0: the expression gives a value of type int/],
    ['answer ==', /^9: unexpected token/],
    ['answer.matches("(")', /^15: the pattern does not compile/],
    ['answer.matches(1)', /string\.matches\(int\)/],
    [`${'('.repeat(100)}true${')'.repeat(100)}`, /depth/i],
    [`answer == "${'x'.repeat(10_001)}"`, /at most 10000/],
    ['process.exit()', /unknown variable: process/],
  ])('%s', (text, told) => {
    expect(run(text)).toMatch(told);
  });
});

describe('what goes wrong while it runs is an error, never a verdict', () => {
  test.each([
    ['output.nope == 1', /error: no such key: nope/],
    ['output.constructor == 1', /error: no such key/],
    ['1 / 0 == 1', /error: division by zero/],
    ['sum(["a"]) > 1.0', /error: sum\(\) takes a list of numbers/],
    ['vars.n < "a"', /error: no such overload/],
  ])('%s', (text, told) => {
    expect(run(text)).toMatch(told);
  });
});

test('loops in loops end', () => {
  const calls = Array.from({ length: 3000 }, (_, i) => ({ i }));
  const compiled = compileExpression(
    'calls.all(a, calls.all(b, calls.all(c, a.i + b.i + c.i >= 0)))',
    VARIABLES,
  );
  const started = performance.now();
  const result = compiled.ok ? compiled.program.run({ ...valuesOf, calls }) : undefined;
  expect(result).toMatchObject({ kind: 'error', message: expect.stringContaining('time limit') });
  expect(performance.now() - started).toBeLessThan(5000);
});

test('a pattern that explodes elsewhere is linear here', () => {
  const compiled = compileExpression('answer.matches("(a+)+$")', VARIABLES);
  const result = compiled.ok
    ? compiled.program.run({ answer: `${'a'.repeat(50_000)}!` })
    : undefined;
  expect(result).toEqual({ kind: 'value', value: false });
});
