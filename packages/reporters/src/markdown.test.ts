import type { RunResult } from '@agentci/results';
import { compareRuns } from '@agentci/run/baseline';
import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf, type ShortResult } from '@agentci/testing/run-of';
import { expect, test } from 'vitest';
import { reporter } from './markdown.ts';
import { type ReportContext, reportText } from './reporter.ts';

const render = (run: RunResult, context: Partial<ReportContext> = {}) =>
  reportText(reporter.render(run, reportContext(context)));
/** Decodes entities, as a browser would. */
const read = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
const failing: ShortResult = { id: 'a', status: 'fail', path: [checkOf('path.max_loops', 'fail')] };

test.each<{ when: string; run: RunResult; title: string; headline: string }>([
  {
    when: 'all is well',
    run: runOf([{ id: 'a', status: 'pass', path: [checkOf('path.max_loops', 'pass')] }]),
    title: '## ✅ AgentCI: demo',
    headline: '**1 query**: 1 passed (exit 0)',
  },
  {
    when: 'something warned',
    run: runOf([{ id: 'a', status: 'warn', path: [checkOf('path.max_loops', 'warn')] }]),
    title: '## ⚠️ AgentCI: demo',
    headline: '**1 query**: 1 warned (exit 0)',
  },
  {
    when: 'something failed',
    run: runOf([failing]),
    title: '## ❌ AgentCI: demo',
    headline: '**1 query**: 1 failed (exit 1)',
  },
  {
    when: 'only a check of the whole run failed',
    run: runOf([], { checks: [checkOf('metric.privacy_budget', 'fail')] }),
    title: '## ❌ AgentCI: demo',
    headline: '**0 queries**: none (exit 1)',
  },
  {
    when: 'nobody could tell',
    run: runOf([{ id: 'a', status: 'error', error: { kind: 'agent', message: 'boom' } }]),
    title: '## ❓ AgentCI: demo',
    headline: '**1 query**: 1 could not be judged (exit 2)',
  },
])('the title says it when $when', ({ run, title, headline }) => {
  expect(render(run).split('\n').slice(1, 4)).toEqual([title, '', headline]);
});

test('everything but a plain pass has a row and details, and unknown values stay empty', () => {
  const run = runOf(
    [
      { id: 'good', status: 'pass' },
      { ...failing, answer: 'a <b>\n::error::x' },
      { id: 'b', status: 'error', error: { kind: 'agent', message: 'boom' }, answer: null },
      { id: 'c', status: 'skip', not_run: 'stopped', answer: null },
      { id: 'd', status: 'skip', xfail: { reason: 'known', status: 'fail' }, answer: null },
    ],
    { notices: ['2 recordings match no query'] },
  );
  run.results[1]!.path.checks[0]!.location = { file: 's.yaml', line: 9, column: 1 };
  run.results[1]!.cost.details.actual = { total_tokens: 12, cost_usd: null, latency_ms: 1500 };
  run.results[1]!.pass_rate = { passed: 1, decided: 3, min: 1 };
  const text = read(render(run, { publicPath: (file) => `sub/${file}` }));
  expect(text.split('\n').filter((line) => line.startsWith('| '))).toEqual([
    '| query | correctness | path | cost | tokens | dollars | time |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    '| ❌ a | ➖ | ❌ | ➖ | 12 |  | 1.50\u00a0s |',
    '| ❓ b | ➖ | ➖ | ➖ |  |  |  |',
    '| ➖ c | ➖ | ➖ | ➖ |  |  |  |',
    '| ➖ d | ➖ | ➖ | ➖ |  |  |  |',
  ]);
  expect(text.split('\n').filter((line) => /^[->]|^<pre|^::/.test(line))).toEqual([
    '- 1 of 3 runs passed',
    '- ❌ path.max_loops: path.max_loops is fail — sub/s.yaml:9',
    '<pre>a &lt;b&gt;',
    '::error::x</pre>',
    '- ❓ boom',
    '- not run: stopped',
    '- expected failure: known',
    '> 2 recordings match no query',
  ]);
});

test('no text of an agent or a spec is markup', () => {
  const hostile = '<img src=x> | [a](http://x) @team **b** -->';
  const run = runOf(
    [
      {
        ...failing,
        query: hostile,
        answer: hostile,
        path: [checkOf('path.max_loops', 'fail', { message: hostile })],
      },
    ],
    { agent: hostile, notices: [hostile], spec: { file: 'a-->b.yaml', hash: 'x' } },
  );
  const text = render(run);
  expect(text).not.toContain('<img');
  expect(text.match(/-->/g)).toHaveLength(1);
  const details = text.split('\n').filter((line) => /^[-#>] ?/.test(line));
  expect(details.join('')).not.toMatch(/\]\(|@team|\*\*b|\| \[/);
});

test('a comment is bounded, and the details that do not fit are counted', () => {
  const results = Array.from({ length: 200 }, (_, i) => ({
    ...failing,
    id: `q${i}`,
    answer: 'x'.repeat(900),
  }));
  const text = render(runOf(results));
  expect(text.length).toBeLessThan(65_536);
  const shown = text.match(/<details><summary>❌/g)?.length ?? 0;
  expect(shown).toBeGreaterThan(20);
  expect(text).toContain(
    `The details of ${200 - shown} queries are left out: a comment has no more room.`,
  );
});

test('a query compared with a baseline says with which, and how it did', () => {
  const run = runOf([failing]);
  const [result] = run.results;
  result!.baseline = { version: 'v1', file: 'b.json' };
  result!.cost.details.cost_multiplier = 1.5;
  result!.path.details.sequence_similarity = 0.8;
  expect(read(render(run))).toContain(
    '- compared with baseline v1: cost ×1.5, sequence similarity 0.8\n',
  );
});

const compared = (before: RunResult, after: RunResult, context: Partial<ReportContext> = {}) =>
  render(after, {
    before: { run: before, comparison: compareRuns({ before, after }) },
    ...context,
  });
const passing = (id: string): ShortResult => ({
  id,
  status: 'pass',
  path: [checkOf('path.max_loops', 'pass')],
});
const broken = (id: string): ShortResult => ({
  id,
  status: 'fail',
  path: [checkOf('path.max_loops', 'fail')],
});

/** The lines visible before anything is unfolded. */
function visibleLines(text: string): string[] {
  let depth = 0;
  return text.split('\n').filter((line) => {
    const isShown = depth === 0;
    depth += (line.match(/<details>/g)?.length ?? 0) - (line.match(/<\/details>/g)?.length ?? 0);
    return isShown && line !== '' && !line.startsWith('<!--');
  });
}

test('what changed against the run before comes first: broken, without a verdict, mended', () => {
  const before = runOf([passing('a'), passing('b'), broken('c'), passing('d'), passing('gone')]);
  const after = runOf([
    broken('a'),
    { id: 'b', status: 'error', error: { kind: 'agent', message: 'boom' }, answer: null },
    passing('c'),
    passing('d'),
    passing('new'),
  ]);
  expect(read(compared(before, after)).split('\n').slice(5, 10)).toEqual([
    expect.stringMatching(
      /^\*\*Worse\*\* against run-1, 4 queries in both runs, 1 new, 1 gone\. 1 query passed before and fails now\./,
    ),
    '',
    '- ❌ **a** passed before, fails now: path.max_loops is fail — agentci_spec.yaml:4',
    '- ❓ **b** passed before, could not be judged now: boom — agentci_spec.yaml:4',
    '- ✅ **c** failed before, passes now',
  ]);
});

test('two equal runs say that nothing changed', () => {
  const run = runOf([passing('a'), broken('b')]);
  expect(read(compared(run, run))).toContain(
    '**Nothing changed** against run-1, 2 queries in both runs. No verdict flipped.',
  );
});

test('a new query that fails leads, and one that is gone is named', () => {
  const text = read(
    compared(runOf([passing('a'), passing('old')]), runOf([passing('a'), broken('b')])),
  );
  expect(text).toMatch(/\*\*Worse\*\* against .*New and failing: b\./);
  expect(text).toContain('- ❌ **b** new and failing: path.max_loops is fail');
  expect(text).toContain('- ➖ **old** is gone');
});

test('runs with no query in common have nothing to compare', () => {
  const text = read(compared(runOf([passing('a')]), runOf([passing('b')])));
  expect(text).toContain('**Nothing to compare** against');
  expect(text).not.toContain('Nothing changed');
});

test('a price that doubled over a few queries is inconclusive, in the words of the comparison', () => {
  const at = (usd: number) => {
    const run = runOf([passing('a'), passing('b')]);
    for (const result of run.results) result.cost.details.actual = { cost_usd: usd };
    return run;
  };
  const [before, after] = [at(0.01), at(0.02)];
  const text = read(compared(before, after));
  expect(text).toContain(compareRuns({ before, after }).headline);
  expect(text).toMatch(
    /- ⚠️ \*\*cost\*\* inconclusive, about 10 queries would settle it: \$0\.0100 → \$0\.0200 over 2 queries/,
  );
});

test('nothing in a summary mentions or links anybody', () => {
  const text = render(runOf([{ ...broken('@team'), query: 'ask @octocat about #12 [x](y)' }]));
  for (const [summary] of text.matchAll(/<summary>.*<\/summary>/g))
    expect(summary).not.toMatch(/@|\[|#1/);
});

test('however much failed or changed, it is one screen until it is unfolded, and fits a comment', () => {
  const ids = Array.from({ length: 300 }, (_, i) => `<b>|[x](y)@team ${'*'.repeat(200)} ${i}`);
  const notices = ids.slice(0, 40);
  const text = compared(
    runOf(ids.map(passing)),
    runOf(ids.map(broken), {
      notices,
      checks: ids.slice(0, 30).map((id) => checkOf(id, 'fail', { message: id.repeat(3) })),
    }),
  );
  expect(visibleLines(text).length).toBeLessThanOrEqual(40);
  expect(text.length).toBeLessThan(65_536);
  expect(text).not.toMatch(/<b>\|/);
  expect(text.match(/<details>/g)).toHaveLength(text.match(/<\/details>/g)!.length);
});

test('links spec lines and job files if there are pages for them', () => {
  const run = runOf([broken('a')]);
  run.results[0]!.path.checks[0]!.location = { file: 's (1).yaml', line: 9, column: 1 };
  const text = read(
    compared(runOf([passing('a')]), run, {
      jobUrl: 'https://ci.example/runs/5',
      lineUrl: (file, line) => `https://ci.example/blob/${encodeURIComponent(file)}#L${line}`,
    }),
  );
  expect(text).toContain('[report and results](https://ci.example/runs/5#artifacts)');
  expect(text).toMatch(
    /fails now: path\.max_loops is fail — \[s \(1\)\.yaml:9\]\(https:\/\/ci\.example\/blob\/s%20%281%29\.yaml#L9\)/,
  );
});
