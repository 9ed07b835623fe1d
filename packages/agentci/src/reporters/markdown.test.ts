import { expect, test } from 'vitest';
import { reportContext } from '../../test/support/report-context.ts';
import { checkOf, runOf, type ShortResult } from '../../test/support/run-of.ts';
import type { RunResult } from '../results/run-result.ts';
import { reporter } from './markdown.ts';
import { type ReportContext, reportText } from './reporter.ts';

const render = (run: RunResult, context: Partial<ReportContext> = {}) =>
  reportText(reporter.render(run, reportContext(context)));
/** As a reader sees it: entities as their characters. */
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

test('everything but a plain pass has a row and details; what is not known is left empty', () => {
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
    '| ❌ a | ➖ | ❌ | ➖ | 12 |  | 1.50 s |',
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
    [{ ...failing, query: hostile, answer: hostile, path: [checkOf('path.max_loops', 'fail', { message: hostile })] }],
    { agent: hostile, notices: [hostile], spec: { file: 'a-->b.yaml', hash: 'x' } },
  );
  const text = render(run);
  expect(text).not.toContain('<img');
  expect(text.match(/-->/g)).toHaveLength(1);
  const details = text.split('\n').filter((line) => /^[-#>] ?/.test(line));
  expect(details.join('')).not.toMatch(/\]\(|@team|\*\*b|\| \[/);
});

test('a comment holds only so much: the details that do not fit are counted', () => {
  const results = Array.from({ length: 200 }, (_, i) => ({ ...failing, id: `q${i}`, answer: 'x'.repeat(900) }));
  const text = render(runOf(results));
  expect(text.length).toBeLessThan(65_536);
  const shown = text.match(/<details>/g)?.length ?? 0;
  expect(shown).toBeGreaterThan(20);
  expect(text).toContain(`The details of ${200 - shown} queries are left out: a comment has no more room.`);
});

test('a query compared with a baseline says with which, and how it did', () => {
  const run = runOf([failing]);
  const [result] = run.results;
  result!.baseline = { version: 'v1', file: 'b.json' };
  result!.cost.details.cost_multiplier = 1.5;
  result!.path.details.sequence_similarity = 0.8;
  expect(read(render(run))).toContain('- compared with baseline v1: cost ×1.5, sequence similarity 0.8\n');
});
