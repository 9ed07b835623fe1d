import type { CheckStatus, RunResult } from '@agentci/results';
import { summarize } from '@agentci/results';
import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import { describe, expect, test } from 'vitest';
import { reporter } from './console.ts';
import { type ReportContext, reportText } from './reporter.ts';

const render = (run: RunResult, context: Partial<ReportContext> = {}) =>
  reportText(reporter.render(run, reportContext(context)));
const strictly = (run: RunResult): RunResult => ({
  ...run,
  summary: summarize(run, { strict: true }),
});

test('a run in which every check was skipped does not end with "ok"', () => {
  const skipped = { ...checkOf('path.rules', 'skip'), skip_reason: 'not_exercised' as const };
  const run = runOf([{ id: 'a', status: 'skip', path: [skipped] }]);
  expect(run.summary.exit_code).toBe(0);
  expect(render(run)).toContain('nothing was exercised (exit 0)');
});

test('explains an exit code of 2 caused by --strict alone, and names the unmeasured checks', () => {
  const unmeasured = (id: string) => checkOf(id, 'skip', { skip_reason: 'not_measured' });
  const run = runOf([
    {
      id: 'q1',
      status: 'pass',
      path: [checkOf('path.max_loops', 'pass')],
      cost: [unmeasured('cost.max_cost_usd')],
    },
    {
      id: 'q2',
      status: 'pass',
      cost: ['a', 'b', 'c', 'd', 'e'].map((name) => unmeasured(`cost.${name}`)),
    },
  ]);
  expect(render(strictly(run))).toContain(
    'could not tell: checks that could not be measured count under --strict: q1 cost.max_cost_usd, q2 cost.a, q2 cost.b, q2 cost.c, q2 cost.d and 1 more (exit 2)',
  );
});

test('an exit code of 2 by an error is not put down to --strict', () => {
  const run = runOf([
    { id: 'q1', status: 'error', path: [checkOf('path.max_loops', 'pass')] },
    {
      id: 'q2',
      status: 'pass',
      cost: [checkOf('cost.max_cost_usd', 'skip', { skip_reason: 'not_measured' })],
    },
  ]);
  expect(render(strictly(run))).toContain('could not tell (exit 2)');
});

test.each([
  { message: 'tool_success: 0.5 of at least 0.9', line: '✗ tool_success: 0.5 of at least 0.9' },
  {
    message: 'tool_success was not measured: no calls',
    line: '✗ tool_success was not measured: no calls',
  },
  { message: 'tool_successes are few', line: '✗ tool_success: tool_successes are few' },
])('a name the message begins with is printed once: $message', ({ message, line }) => {
  const check = checkOf('metric.tool_success', 'fail', { message });
  expect(render(runOf([{ id: 'q', status: 'fail', path: [check] }]))).toContain(
    `        ${line}\n`,
  );
  expect(render(runOf([], { checks: [check] }))).toContain(
    `  ${line.replace('✗ ', '✗ metric.')}\n`,
  );
});

const decided = checkOf('path.max_loops', 'pass');
const passing = (id: string): ShortResult => ({ id, status: 'pass', path: [decided] });
const failing: ShortResult = {
  id: 'bad',
  status: 'fail',
  path: [checkOf('path.max_loops', 'fail')],
};
const warned: ShortResult = {
  id: 'odd',
  status: 'warn',
  path: [checkOf('path.max_loops', 'warn')],
};
const broken: ShortResult = {
  id: 'gone',
  status: 'error',
  error: { kind: 'agent', message: 'boom' },
};

test.each<{ when: string; run: RunResult; line: string }>([
  { when: 'all passed', run: runOf([passing('a')]), line: 'ok (exit 0)' },
  { when: 'something warned', run: runOf([warned]), line: 'ok: nothing failed (exit 0)' },
  { when: 'something failed', run: runOf([failing]), line: 'failed (exit 1)' },
  {
    when: 'a check of the whole run failed',
    run: runOf([passing('a')], { checks: [checkOf('metric.privacy_budget', 'fail')] }),
    line: 'failed (exit 1)',
  },
  {
    when: 'warnings count',
    run: strictly(runOf([warned])),
    line: 'failed: warnings count under --strict (exit 1)',
  },
  {
    when: 'a line of a script was never said',
    run: strictly(
      runOf([{ ...passing('a'), warnings: [{ code: 'SCRIPT_UNUSED', message: 'never said' }] }]),
    ),
    line: 'failed: warnings count under --strict: a SCRIPT_UNUSED (exit 1)',
  },
  {
    when: 'a call may be hidden',
    run: strictly(
      runOf([{ ...passing('a'), warnings: [{ code: 'CALLS_MISSING', message: 'none' }] }]),
    ),
    line: 'could not tell: a trace that may lack a call counts under --strict: a CALLS_MISSING (exit 2)',
  },
  {
    when: 'nothing was decided',
    run: runOf([{ id: 'a', status: 'skip' }]),
    line: 'nothing was checked (exit 2)',
  },
  { when: 'an agent broke', run: runOf([broken]), line: 'could not tell (exit 2)' },
  {
    when: 'it was stopped',
    run: { ...runOf([]), summary: { ...runOf([]).summary, exit_code: 130 } },
    line: 'interrupted: finished queries are stored; --resume continues (exit 130)',
  },
])('the last line says why the build is red or green when $when', ({ run, line }) => {
  expect(render(run).trimEnd().split('\n').at(-1)).toBe(line);
});

test('the summary counts every query once, and names notices, the judge, and the way to run the rest again', () => {
  const run = runOf(
    [
      passing('a'),
      warned,
      failing,
      broken,
      { id: 'x', status: 'skip', xfail: { reason: 'known', status: 'fail' } },
    ],
    {
      notices: ['mind the gap'],
      duration_ms: 1500,
      judge: { calls: 2, cached: 1, cost_usd: null, input_tokens: 10, output_tokens: 5 },
    },
  );
  const lines = render(run, { rerunCommand: 'agentci test --failed' }).trimEnd().split('\n');
  expect(lines.slice(lines.findIndex((line) => line.startsWith('5 queries')))).toEqual([
    '5 queries: 1 passed, 1 warned, 1 failed, 1 could not be judged, 1 skipped (3 checks in 1.50 s)',
    '1 of the skipped are expected failures',
    'judge: 2 calls, 1 stored, 15 tokens, unknown cost',
    'note: mind the gap',
    'failed (exit 1)',
    'run only these again: agentci test --failed',
  ]);
});

test.each([
  { when: 'an agent broke', results: [broken], offers: true },
  { when: 'something warned', results: [warned], offers: false },
])('offers a rerun only if it helps: $when', ({ results, offers }) => {
  expect(
    render(runOf(results), { rerunCommand: 'agentci test --failed' }).includes(
      'run only these again',
    ),
  ).toBe(offers);
});

test('a query that did not pass says why, where, and what the agent printed last', () => {
  const stderr = Array.from({ length: 12 }, (_, i) => `line ${i}`).join('\n');
  const location = { file: 's.yaml', line: 7, column: 9 };
  const run = runOf([
    { ...broken, error: { kind: 'agent', message: 'boom', stderr } },
    { id: 'x', status: 'skip', xfail: { reason: 'known', status: 'fail' } },
    { id: 'n', status: 'skip', not_run: 'stopped' },
    {
      id: 'u',
      status: 'fail',
      path: [checkOf('path.max_loops', 'fail', { location })],
      cost: [checkOf('cost.max_cost_usd', 'skip', { skip_reason: 'no_baseline' })],
    },
  ]);
  const text = render(run);
  expect(text).toContain('        error  boom  agentci_spec.yaml:4:5\n          | line 4\n');
  expect(text).toContain('          | line 11\n');
  expect(text).toContain('- skip  x  question of x\n        expected failure: known\n');
  expect(text).toContain('- skip  n  question of n\n        not run: stopped\n');
  expect(text).toContain('        ✗ max_loops: path.max_loops is fail  s.yaml:7:9\n');
  expect(text).toContain('        - max_cost_usd: cost.max_cost_usd is skip (no_baseline)\n');
});

test.each([
  { passes: 40, listed: true },
  { passes: 41, listed: false },
])('$passes passing queries are listed: $listed', ({ passes, listed }) => {
  const text = render(
    runOf([...Array.from({ length: passes }, (_, i) => passing(`p${i}`)), failing]),
  );
  expect(text.includes('✓ pass  p0')).toBe(listed);
  expect(text.includes(`(${passes} passing queries not listed)`)).toBe(!listed);
  expect(text).toContain('✗ fail  bad');
});

test('--quiet shows what failed or broke, and no more', () => {
  const text = render(runOf([passing('a'), warned, failing, broken]), { quiet: true });
  expect(
    text
      .split('\n')
      .filter((line) => /^\S (pass|warn|fail|error) {1,2}\w/.test(line))
      .map((line) => line.slice(0, 12)),
  ).toEqual(['✗ fail  bad ', '? error gone']);
});

test('the slowest and most expensive of many queries are named, the worst first', () => {
  const run = runOf(['a', 'b', 'c', 'd'].map(passing));
  for (const [i, result] of run.results.entries())
    result.cost.details.actual = { latency_ms: 100 * (i + 1), cost_usd: i === 0 ? 2 : null };
  expect(render(run)).toContain('slowest: d 400 ms, c 300 ms, b 200 ms\nmost expensive: a $2.00\n');
});

test('numbers of a query with repeats are means of its runs, and named so', () => {
  const run = runOf(['a', 'b', 'c', 'd'].map(passing));
  for (const result of run.results) {
    result.cost.details.actual = { latency_ms: 200, cost_usd: 0.04 };
    const used = (latency_ms: number, cost_usd: number) => ({
      latency_ms,
      cost_usd,
      total_tokens: null,
    });
    result.runs = [used(200, 0.04), used(142, 0.02)].map((each) => ({
      status: 'pass',
      messages: [],
      ...each,
    })) as never;
  }
  const text = render(run);
  expect(text).toContain('slowest, mean of its runs: a 171 ms');
  expect(text).toContain('most expensive, mean of its runs: a $0.0300');
  expect(text).toContain('$0.0300 · 171 ms · mean of 2 runs');
  expect(text).not.toContain('200 ms');
});

test('reports unmeasured checks of passing queries once, with their number', () => {
  const unmeasured = (id: string) => checkOf(id, 'skip', { skip_reason: 'not_measured' });
  const passed = {
    status: 'pass' as const,
    correctness: [checkOf('correctness.exact_match', 'pass')],
  };
  const run = runOf([
    { id: 'q1', ...passed, path: [unmeasured('path.max_tool_calls')] },
    {
      id: 'q2',
      ...passed,
      path: [unmeasured('path.max_tool_calls')],
      cost: [unmeasured('cost.max_cost_usd')],
    },
    {
      id: 'q3',
      ...passed,
      path: [checkOf('path.rules', 'skip', { skip_reason: 'not_exercised' })],
    },
  ]);
  expect(render(run)).toContain(
    '\n3 checks of passed queries could not be measured: path.max_tool_calls × 2, cost.max_cost_usd\n',
  );
  expect(render(runOf([{ id: 'q', ...passed }]))).not.toContain('could not be measured');
});

describe('the answer of a query that did not pass', () => {
  const shown = (
    answer: string | null,
    details: object,
    { color = false, status = 'fail' as CheckStatus } = {},
  ) => {
    const run = runOf([
      { id: 'q', status, answer, correctness: [checkOf('correctness.x', status)] },
    ]);
    const [result] = run.results;
    const given = {
      ...run,
      results: [{ ...result!, correctness: { ...result!.correctness, details } }],
    } as RunResult;
    return render(given, { color })
      .split('\n')
      .find((line) => line.startsWith('        answer: '))
      ?.slice('        answer: '.length);
  };
  const terms = (...checked: string[]) => ({ checked });

  test.each([
    {
      answer: 'Ask our support',
      details: { not_in_answer: terms('support') },
      line: 'Ask our [-support-]',
    },
    {
      answer: 'Run NPM install now',
      details: { expected_in_answer: terms('npm install', 'yarn') },
      line: 'Run {+NPM install+} now',
    },
    {
      answer: 'either a or b',
      details: { any_expected_in_answer: terms('a or b'), not_in_answer: terms('or') },
      line: 'either a [-or-] b',
    },
    { answer: 'two\n\u001b[2Jlines', details: {}, line: 'two lines' },
    { answer: ' ', details: {}, line: '(empty)' },
    {
      answer: 'x',
      details: { not_in_answer: { checked: 'x' }, expected_in_answer: null },
      line: 'x',
    },
    { answer: 'a.b', details: { not_in_answer: terms('.', '') }, line: 'a[-.-]b' },
  ])('$line', ({ answer, details, line }) => {
    expect(shown(answer, details)).toBe(line);
  });

  test('is cut around the forbidden word when that is far in', () => {
    const line = shown(`${'a '.repeat(500)}SECRET${' b'.repeat(500)}`, {
      not_in_answer: terms('secret'),
    })!;
    expect(line).toMatch(/^…(?:a )+\[-SECRET-\](?: b)+…$/);
    expect(line.length).toBeLessThan(420);
  });

  test('is colored on a terminal, and hidden if there is none or the query passed', () => {
    expect(shown('bad', { not_in_answer: terms('bad') }, { color: true })).toContain('\u001b[31m');
    expect(shown(null, {})).toBeUndefined();
    expect(shown('ok', {}, { status: 'pass' })).toBeUndefined();
  });
});

test('does not count runs as all if only some queries have repeats', () => {
  const run = runOf([passing('a'), { id: 'b', status: 'fail' }]);
  run.results[0]!.pass_rate = { passed: 3, decided: 3, min: 1 };
  expect(render(run)).toContain('1 failed (of 1 query with repeats 3 of 3 runs passed, ');
});

test('repeats say how many runs passed, of a query and in all', () => {
  const run = runOf([passing('a'), failing]);
  const rate = (passed: number) => ({ passed, decided: 3, min: 1 });
  const results = run.results.map((result, i) => ({ ...result, pass_rate: rate(i === 0 ? 3 : 1) }));
  const text = render({ ...run, results });
  expect(text).toContain('question of a  3 of 3 runs passed\n');
  expect(text).toContain('1 of 3 runs passed; required: 100 %');
  expect(text).toContain('(4 of 6 runs passed, 2 checks)');
});

test('an interruption is one line: queries that did not run are counted, not listed', () => {
  const skipped = (id: string): ShortResult => ({
    id,
    status: 'skip',
    not_run: 'the run was interrupted',
  });
  const text = render({ ...runOf([passing('a'), skipped('b'), skipped('c')]), interrupted: true });
  expect(text).not.toContain('question of b');
  expect(text).toContain('3 queries: 1 passed, 2 not run');
  expect(text.match(/interrupted/g) ?? []).toHaveLength(0);
});
