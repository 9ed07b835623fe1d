import { reportText } from '@agentci/reporters';
import { reporter } from '@agentci/reporters/markdown';
import type { CheckStatus, RunResult } from '@agentci/results';
import { summarize } from '@agentci/results';
import { compareCells } from '@agentci/run';
import { compareRuns } from '@agentci/run/baseline';
import { reportContext } from '@agentci/testing/report-context';
import { checkOf, runOf } from '@agentci/testing/run-of';
import type { Browser } from 'playwright-core';
import { createMarkdownRenderer } from 'vitepress';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, freshPage, launch } from './support/browser.ts';

const chromium = findChromium();
const WINDOW = { width: 1280, height: 900 };
/** Width of a comment in a window of 1280 px, next to the avatar and the right column. */
const COMMENT_PX = 780;

/** GitHub's sizes for Markdown in a comment. */
const STYLE = `
  body { margin: 0; font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; }
  #comment { width: ${COMMENT_PX}px; overflow-wrap: break-word; }
  h2 { margin: 24px 0 16px; padding-bottom: 0.3em; font-size: 1.5em; line-height: 1.25; border-bottom: 1px solid; }
  p, ul, table, blockquote, pre, details { margin: 0 0 16px; }
  ul { padding-left: 2em; } li + li { margin-top: 0.25em; }
  blockquote { padding: 0 1em; border-left: 0.25em solid; }
  table { display: block; width: max-content; max-width: 100%; overflow: auto; border-collapse: collapse; }
  th, td { padding: 6px 13px; border: 1px solid; }
  #comment > :first-child { margin-top: 0; } #comment > :last-child { margin-bottom: 0; }
`;

type Shape = (i: number) => string;
const plain: Shape = (i) => `question-${i}`;
const long: Shape = (i) =>
  `a-name-of-a-query-that-goes-on-for-long-and-says-everything-about-it-${i}`;
const hostile: Shape = (i) => `<b>|[x](y)@team ${'*'.repeat(200)} ${i}`;
/** As wide as Chinese or Japanese letters, whose fonts may be missing. */
const wide: Shape = (i) => `${'—'.repeat(96)}${i}`;

function runWith(
  count: number,
  name: Shape,
  status: (i: number) => CheckStatus,
  message: string,
): RunResult {
  const run = runOf(
    Array.from({ length: count }, (_, i) => ({
      ...{ id: name(i), query: `${name(i)}?`.repeat(3), status: status(i) },
      correctness: [
        checkOf('correctness.expected_in_answer', status(i), { message: `${message} ${i % 7}` }),
      ],
    })),
    {
      notices: Array.from({ length: 12 }, (_, i) => `${message} ${name(i)}`),
      checks: Array.from({ length: 6 }, (_, i) =>
        checkOf(`metric.m${i}`, 'fail', { message: `${message} ${name(i)}` }),
      ),
    },
  );
  for (const [i, result] of run.results.entries())
    result.cost.details.actual = {
      cost_usd: 0.0123 * i,
      total_tokens: 12_345 * i,
      latency_ms: 1234 * i,
    };
  return run;
}

function withCells(run: RunResult, isBefore: boolean): RunResult {
  const cells = ['gpt-4o-mini-2024-07-18', 'claude-haiku-4-5', 'gemini-2.5-flash'].flatMap(
    (model) =>
      ['short.md', 'long.md', 'strict.md', 'polite.md'].map((prompt) => ({ model, prompt })),
  );
  const results = cells.flatMap((cell, c) =>
    run.results.map((result, i) => ({
      ...result,
      cell,
      status: !isBefore && (i + c) % 3 === 0 ? ('fail' as const) : ('pass' as const),
    })),
  );
  const summary = summarize({ results, checks: run.checks });
  return { ...run, results, summary, ...compareCells(results, cells, undefined) };
}

const every = (status: CheckStatus) => () => status;
const SENTENCE =
  'found 0 of 1 expected term; missing: "the refund is on its way and arrives within three working days"';

describe.skipIf('missing' in chromium)('the comment on a pull request', () => {
  let browser: Browser;
  let markdown: Awaited<ReturnType<typeof createMarkdownRenderer>>;
  beforeAll(async () => {
    if ('path' in chromium) browser = await launch(chromium.path);
    markdown = await createMarkdownRenderer('.');
  });
  afterAll(() => browser?.close());

  test.each([
    { what: 'one failure', name: plain, count: 1, change: (run: RunResult) => run },
    { what: '300 failures', name: plain, count: 300, change: (run: RunResult) => run },
    {
      what: '300 failures with long names',
      name: long,
      count: 300,
      change: (run: RunResult) => run,
    },
    {
      what: '300 failures with hostile names',
      name: hostile,
      count: 300,
      change: (run: RunResult) => run,
    },
    {
      what: '300 failures in wide characters',
      name: wide,
      count: 300,
      change: (run: RunResult) => run,
    },
    { what: 'a matrix of twelve cells', name: long, count: 30, change: withCells },
  ])('$what: at most one screen until something is unfolded', async ({ name, count, change }) => {
    const before = change(runWith(count, name, every('pass'), SENTENCE), true);
    const after = change(runWith(count, name, every('fail'), SENTENCE), false);
    const comparison = compareRuns({ before, after });
    const context = reportContext({
      before: { run: before, comparison },
      jobUrl: 'https://ci.example/runs/5',
    });
    const text = reportText(reporter.render(after, context));
    const page = await freshPage(browser, WINDOW);
    await page.setContent(
      `<!doctype html><style>${STYLE}</style><div id="comment">${markdown.render(text)}</div>`,
    );
    const height = await page.evaluate(
      () => document.getElementById('comment')!.getBoundingClientRect().height,
    );
    expect(height).toBeGreaterThan(100);
    expect(height).toBeLessThanOrEqual(WINDOW.height);
    // The cells of a matrix are visible.
    const seen = await page.locator('#comment > table').allInnerTexts();
    expect(seen.some((table) => table.includes('prompt=short.md'))).toBe(after.cells !== undefined);
  });
});
