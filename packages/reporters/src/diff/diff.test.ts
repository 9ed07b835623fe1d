import { escapeMarkdownTableCell } from '@agentci/lib/text';
import type { DiffReport } from '@agentci/results';
import { diffTraces } from '@agentci/run';
import { compareRuns, diffReport } from '@agentci/run/baseline';
import { runOf } from '@agentci/testing/run-of';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { box, displayWidth } from './box.ts';
import { renderDiffConsole } from './console.ts';
import { renderDiffGithub } from './github.ts';
import { renderDiffMarkdown } from './markdown.ts';

const HOSTILE = 'x\n::error::forged\u001b[2J\u202e | [link](http://evil) <b>@all</b>';

function report(options: { limit?: number; count?: number; text?: string } = {}): DiffReport {
  const { limit, count = 1, text = 'plain' } = options;
  const queries = Array.from({ length: count }, (_, i) => ({
    id: `q${i}`,
    query: text,
    location: { file: 'spec.yaml', line: 4 + i, column: 5 },
    ...diffTraces({
      before: simpleTrace({
        answer: 'old',
        tool_calls: [{ name: 'a', args: { k: 1 } }, { name: text }],
        cost_usd: 0.01,
      }),
      after: simpleTrace({
        answer: text,
        tool_calls: [{ name: 'a', args: { k: text } }],
        cost_usd: 0.02,
      }),
      query: { correctness: { expected_in_answer: ['old'] } },
      ...(limit === undefined ? {} : { maxRegressionPercent: limit }),
    }),
  }));
  return diffReport({
    agent: text,
    from_version: 'v1',
    to_version: 'v2',
    queries,
    comparison: compareRuns({
      before: sideOf(count, { status: 'pass', calls: 2, lost: text === 'plain' ? 'lost' : text }),
      after: sideOf(count, { status: 'fail', calls: 1 }),
    }),
    notices: [text],
    ...(limit === undefined ? {} : { maxRegressionPercent: limit }),
  });
}

/** A version as a run. */
const sideOf = (
  count: number,
  { status, calls, lost }: { status: 'pass' | 'fail'; calls: number; lost?: string },
) =>
  runOf([
    ...Array.from({ length: count }, (_, i) => ({
      id: `q${i}`,
      status,
      metrics: { tool_calls: { value: calls, detail: {} } },
    })),
    ...(lost === undefined ? [] : [{ id: lost, status }]),
  ]);

describe('hostile text', () => {
  test('stays inside the box, and the box stays straight', () => {
    const text = renderDiffConsole(report({ text: HOSTILE }));
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
    const framed = text.split('\n').filter((line) => /^[╔║╠╚]/.test(line));
    expect(new Set(framed.map(displayWidth)).size).toBe(1);
    expect(text.split('\n').every((line) => !line.startsWith('::'))).toBe(true);
  });

  test('cannot begin a workflow command', () => {
    const lines = renderDiffGithub(report({ text: HOSTILE, limit: 10 }), (file) => file)
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(3);
    expect(lines.every((line) => /^::(error|warning|notice) (file|title)=/.test(line))).toBe(true);
  });

  test('is text in Markdown, not markup', () => {
    const text = renderDiffMarkdown(report({ text: HOSTILE }));
    expect(text).not.toMatch(/<b>|\]\(http|@all/);
  });
});

test('what changed, and what regressed, is in every report', () => {
  const found = report({ limit: 10 });
  expect(found.summary).toEqual({ compared: 1, changed: 1, regressions: 2, exit_code: 1 });
  const shown = renderDiffConsole(found);
  expect(shown).toContain('Correctness: Changed (PASS → FAIL)');
  expect(shown).toContain('- plain');
  expect(shown).toContain('a #1 k: 1 → "plain"');
  expect(shown).toContain('only in v1: lost');
  expect(renderDiffMarkdown(found)).toContain('▲ 100%');
});

test('several queries are also compared as a whole', () => {
  const found = report({ count: 12 });
  expect(found.comparison).toMatchObject([
    { metric: 'pass_rate', pairs: 12, verdict: 'worse' },
    { metric: 'tool_calls', verdict: 'better' },
  ]);
  expect(renderDiffConsole(found)).toMatch(/pass_rate: +worse/);
});

test('the terminal, Markdown and JSON use the same words for the result', () => {
  const found = report({ count: 12 });
  expect(found.verdict).toBe('worse');
  expect(found.headline).toMatch(/^12 queries passed before and fail now\. .*Gone: lost\.$/);
  expect(renderDiffConsole(found)).toContain(`\n${found.headline}\n`);
  expect(renderDiffMarkdown(found)).toContain(escapeMarkdownTableCell(found.headline));
});

test('a limit that applies to nothing known cannot be judged', () => {
  const queries = [
    { id: 'q', query: 'q', ...diffTraces({ before: simpleTrace('a'), after: simpleTrace('a') }) },
  ];
  const sides = { before: runOf([]), after: runOf([]) };
  const rest = {
    agent: 'x',
    from_version: 'a',
    to_version: 'b',
    notices: [],
    comparison: compareRuns(sides),
  };
  expect(diffReport({ ...rest, queries, maxRegressionPercent: 10 }).summary.exit_code).toBe(2);
  expect(diffReport({ ...rest, queries }).summary.exit_code).toBe(0);
});

test('wide characters do not bend the frame', () => {
  const lines = box(['✅ ok', '日本語', 'e\u0301', null, 'x'.repeat(300)]).split('\n');
  expect(new Set(lines.map(displayWidth)).size).toBe(1);
});
