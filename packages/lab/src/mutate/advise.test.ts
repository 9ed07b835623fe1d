import { parseSpec } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { joinWritten } from './join-written.ts';
import { type MutateOptions, mutateSuite } from './mutate-suite.ts';
import { OPERATORS } from './operators/index.gen.ts';
import { renderConsole } from './report/console.ts';
import { groupSurvivors } from './report/words.ts';

const only = (...names: string[]) => OPERATORS.filter(({ name }) => names.includes(name));

async function mutate(spec: string, runs: readonly object[], rest: Partial<MutateOptions> = {}) {
  const { suite } = parseSpec(`version: 1\nagent: shop\n${spec}`);
  const recordings = new Map<string, Trace[]>();
  for (const run of runs) {
    const trace = simpleTrace(run);
    const id = (run as { id: string }).id;
    recordings.set(id, [...(recordings.get(id) ?? []), trace]);
  }
  return mutateSuite({ suite: suite!, recordings, ...rest });
}
const call = (name: string, args: object = {}, rest: object = {}) => ({
  name,
  args,
  result: 'x',
  ...rest,
});
const linesOf = ({ survivors }: Awaited<ReturnType<typeof mutate>>) =>
  groupSurvivors(survivors).map(({ advice }) => advice?.yaml);

describe('what a query has already stays in the advised line', () => {
  test.each([
    [
      'a list of defaults',
      'defaults: {path: {forbidden_tools: ["delete_*"]}}\nqueries: [{id: a, query: a}, {id: b, query: b}]',
      'forbidden_tools: ["delete_*", wipe]',
    ],
    [
      'a list of its own',
      'queries: [{id: a, query: a, path: {forbidden_tools: [refund]}}, {id: b, query: b}]',
      'forbidden_tools: [refund, wipe]',
    ],
    [
      'nothing',
      'queries: [{id: a, query: a, path: {max_tool_calls: 9}}, {id: b, query: b}]',
      'forbidden_tools: [wipe]',
    ],
  ])('%s', async (_, spec, line) => {
    const result = await mutate(
      spec,
      [
        { id: 'a', query: 'a', answer: 'one', tool_calls: [call('find')] },
        { id: 'b', query: 'b', answer: 'two', tool_calls: [call('wipe')] },
      ],
      { operators: only('extra-call') },
    );
    const ofA = { ...result, survivors: result.survivors.filter(({ query }) => query === 'a') };
    expect(linesOf(ofA)).toEqual([line]);
  });

  test('lines of one key are one line, so that none replaces another', async () => {
    const result = await mutate(
      'queries: [{id: a, query: a, cost: {max_llm_calls: 9}}]',
      [
        {
          id: 'a',
          query: 'a',
          answer: 'Due 12 May, 340 EUR',
          tool_calls: [call('find'), call('pay')],
        },
      ],
      { operators: only('drop-call', 'change-number') },
    );
    expect(linesOf(result)).toEqual([
      'expected_in_answer: ["12", "340"]',
      'expected_tools: [find, pay]',
    ]);
  });

  test.each([
    ['a limit becomes narrower', 'max_tool_calls', 5, 2, 2],
    ['a limit never becomes wider', 'max_tool_calls', 1, 2, undefined],
    [
      'an order that has the written one in it',
      'expected_tool_sequence',
      ['a'],
      ['b', 'a'],
      ['b', 'a'],
    ],
    ['an order that does not', 'expected_tool_sequence', ['a', 'b'], ['b', 'a', 'c'], undefined],
    ['another agent', 'expected_handoff', 'A', 'B', undefined],
    [
      'a schema keeps its own',
      'json_schema',
      { type: 'object', required: ['a'], additionalProperties: false },
      { type: 'object', required: ['b'] },
      { type: 'object', additionalProperties: false, required: ['a', 'b'] },
    ],
  ])('%s', (_, key, written, value, joined) => {
    expect(joinWritten(key, written, value)).toEqual(joined);
  });
});

const ERROR = { status: 'error', error: 'no' };

describe('a line is advised only when it holds on the recording and catches the change', () => {
  test.each([
    [
      'an error that the good run has already',
      'ignored-error',
      { tool_calls: [call('find'), call('pay', {}, ERROR)] },
      ['max_tool_errors: 1'],
    ],
    [
      'a number that is part of another one',
      'change-number',
      { answer: '3 of 2031 items' },
      ['expected_in_answer: ["3 of", "2031"]'],
    ],
    [
      'one of several calls with the same argument',
      'missing-argument',
      { tool_calls: [call('find', { id: 1 }), call('find', { id: 1 })] },
      [
        'expected_calls: {mode: exact, calls: [{tool: find, args: {id: 1}}, {tool: find, args: {id: 1}}]}',
      ],
    ],
    [
      'one of two handoffs to the same agent',
      'lost-handoff',
      {
        handoffs: [
          { from: 'A', to: 'B' },
          { from: 'A', to: 'B' },
        ],
      },
      [undefined],
    ],
  ])('%s', async (_, operator, run, lines) => {
    const result = await mutate(
      'queries: [{id: a, query: a, path: {max_tool_calls: 9}}]',
      [{ id: 'a', query: 'a', answer: 'fine', tool_calls: [], ...run }],
      { operators: only(operator) },
    );
    expect(linesOf(result)).toEqual(lines);
    if (lines[0] === undefined) expect(renderConsole(result)).toContain('no check was found');
  });

  test('a line that another good recording of the query breaks is not advised', async () => {
    const result = await mutate(
      'queries: [{id: a, query: a, path: {max_tool_errors: 9}}]',
      [
        { id: 'a', query: 'a', answer: 'x', tool_calls: [call('find')] },
        { id: 'a', query: 'a', answer: 'x', tool_calls: [call('pay')] },
      ],
      { operators: only('drop-call') },
    );
    expect(linesOf(result)).toEqual([undefined]);
  });

  test('a recording that warns already is named, and its limit is not widened', async () => {
    const result = await mutate(
      'queries: [{id: a, query: a, path: {max_tool_calls: 0}}]',
      [{ id: 'a', query: 'a', answer: 'x', tool_calls: [call('find')] }],
      { operators: only('repeat-call') },
    );
    expect(result.already_violated).toMatchObject([{ query: 'a', check: 'path.max_tool_calls' }]);
    expect(linesOf(result)).toEqual(['max_identical_calls: 1']);
    expect(renderConsole(result)).toContain('violates path.max_tool_calls as it is');
  });
});

describe('rows of one query', () => {
  const spec = (columns: string) =>
    `queries:\n  - id: p\n    query: "price of {{item}}"\n    rows: ${columns}\n    cost: {max_llm_calls: 9}\n`;
  const ROWS = '[{item: apple, n: "31"}, {item: pear, n: "42"}]';
  const runs = (...args: string[]) =>
    args.map((item, i) => ({
      id: `p-${i + 1}`,
      query: `price of ${['apple', 'pear'][i]}`,
      answer: `It costs ${[31, 42][i]}`,
      tool_calls: [call('look', { item })],
    }));

  test('a value that comes from a column is advised once, as the variable', async () => {
    const result = await mutate(spec(ROWS), runs('apple', 'pear'), {
      operators: only('missing-argument', 'change-number'),
    });
    expect(linesOf(result)).toEqual([
      'expected_in_answer: ["{{n}}"]',
      'expected_tool_args: [{tool: look, args: {item: "{{item}}"}}]',
    ]);
  });

  test('a value that fits only one row is marked, and braces in it are escaped', async () => {
    const result = await mutate(spec(ROWS), runs('{{apple}}', 'sour pear'), {
      operators: only('missing-argument'),
    });
    expect(result.survivors.map(({ advice }) => [advice?.yaml, advice?.per_row])).toEqual([
      ['expected_tool_args: [{tool: look, args: {item: "\\\\{{apple}}"}}]', true],
      ['expected_tool_args: [{tool: look, args: {item: sour pear}}]', true],
    ]);
    expect(renderConsole(result)).toContain('for this row alone');
  });
});

describe('a score is held against --min-score only when all was measured', () => {
  const TWO =
    'queries: [{id: a, query: a, correctness: {expected_in_answer: [blue]}}, {id: b, query: b, cost: {max_llm_calls: 1}}]';
  const RUBRIC =
    'queries: [{id: a, query: a, correctness: {llm_judge: [{rule: It is polite, threshold: 0.7}]}, path: {expected_tools: [find]}}]';
  const A = { id: 'a', query: 'a', answer: 'blue sky', tool_calls: [call('find')] };
  test.each([
    ['a query without a recording', TWO, 0.9, ['empty-answer'], 2],
    ['a query without a recording, no bound', TWO, undefined, ['empty-answer'], 0],
    ['missed whatever the others would do', TWO, 0.9, ['repeat-call', 'ignored-error'], 1],
    ['wrong answers left to rubrics', RUBRIC, 0.9, ['empty-answer', 'drop-call'], 2],
    ['met even without the rubrics', RUBRIC, 0.5, ['empty-answer', 'drop-call'], 0],
  ])('%s', async (_, spec, minScore, operators, code) => {
    const result = await mutate(spec, [A], {
      operators: only(...operators),
      ...(minScore === undefined ? {} : { minScore }),
    });
    expect(result.summary.exit_code).toBe(code);
    expect(renderConsole(result)).not.toContain('every change was noticed');
    if (code === 2) expect(renderConsole(result)).toContain('could not tell: 1 ');
  });

  test('queries without a good recording are named, except skipped and expected failures', async () => {
    const result = await mutate(
      `${TWO.slice(0, -1)}, {id: c, query: c, skip: later, correctness: {is_json: true}}, {id: d, query: d, xfail: known, correctness: {is_json: true}}]`,
      [A],
    );
    expect(result.uncovered).toEqual(['b']);
  });
});

test.each([Number('1763380000123456789'), 1e21, 1e308])(
  'a change that rounding undoes is not counted: %s',
  async (id) => {
    const result = await mutate(
      'queries: [{id: a, query: a, cost: {max_llm_calls: 1}}]',
      [{ id: 'a', query: 'a', answer: 'x', tool_calls: [call('find', { id })] }],
      { operators: only('boundary-argument') },
    );
    expect(result).toMatchObject({ equal: 1, survivors: [] });
  },
);

test('the same recording three times says no more than once', async () => {
  const run = { id: 'a', query: 'a', answer: 'On 4 May', tool_calls: [call('find', { id: 1 })] };
  const spec = 'queries: [{id: a, query: a, path: {expected_tools: [find]}}]';
  const [once, thrice] = [await mutate(spec, [run]), await mutate(spec, [run, run, run])];
  expect(thrice.score.mutants).toBe(3 * once.score.mutants);
  expect(thrice.score.ci95).toEqual(once.score.ci95);
});

test('checks that no change reached are not called idle', async () => {
  const spec =
    'queries: [{id: a, query: a, correctness: {not_in_answer: [no]}, path: {expected_tools: [find]}}]';
  const run = { id: 'a', query: 'a', answer: 'yes', tool_calls: [call('find')] };
  const some = await mutate(spec, [run], { operators: only('empty-answer') });
  expect(some.untried_checks.map(({ check }) => check)).toContain('path.expected_tools');
  expect(some.idle_checks.map(({ check }) => check)).not.toContain('path.expected_tools');
  const all = await mutate(spec, [run]);
  expect(all.untried_checks).toEqual([]);
  expect(all.idle_checks).toMatchObject([{ check: 'correctness.not_in_answer' }]);
});
