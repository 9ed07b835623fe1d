import type { RunResult } from '@agentci/results';
import { summarize } from '@agentci/results';
import { compareCells } from '@agentci/run';
import { checkOf, runOf } from '@agentci/testing/run-of';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launch } from './support/browser.ts';
import { openReport } from './support/open-report.ts';

const chromium = findChromium();
const CELLS = ['gpt-4o-mini-2024-07-18', 'claude-haiku-4-5', 'gemini-2.5-flash'].flatMap((model) =>
  ['short.md', 'long.md', 'strict.md', 'polite.md'].map((prompt) => ({ model, prompt })),
);
const LONG_ID = 'an-id-without-spaces-that-goes-on-and-on-until-it-has-sixty-letters';

/** 300 calls with a limit of 20. The check lists the first ones. */
const STEPS = Array.from({ length: 20 }, (_, i) => ({
  step: i + 21,
  ...(i === 19 ? { more: 260 } : {}),
}));

const failing = (id: string) => ({
  ...{ id, status: 'fail' as const, query: 'x'.repeat(300) },
  correctness: [
    checkOf('correctness.expected_in_answer', 'fail', { message: 'found 0 of 1 expected term' }),
  ],
  path: [
    checkOf('path.max_tool_calls', 'fail', {
      message: 'tool calls: 300, limit 20',
      evidence: STEPS,
    }),
  ],
});

function matrixRun(): RunResult {
  const plain = runOf(Array.from({ length: 8 }, (_, i) => failing(`question-${i}`)));
  const results = CELLS.flatMap((cell, c) =>
    plain.results.map((result, i) => ({
      ...{ ...result, cell },
      status: (i + c) % 4 === 0 ? ('fail' as const) : ('pass' as const),
    })),
  );
  return {
    ...{ ...plain, results, summary: summarize({ results, checks: [] }) },
    ...compareCells(results, CELLS, undefined),
  };
}

describe.skipIf('missing' in chromium)('a crowded page', () => {
  let browser: Browser;
  beforeAll(async () => {
    if ('path' in chromium) browser = await launch(chromium.path);
  });
  afterAll(() => browser?.close());

  test('twelve cells leave room for the names of the queries, and the causes count queries and cells', async () => {
    const { page } = await openReport(browser, matrixRun());
    await page.setViewportSize({ width: 1280, height: 900 });
    const heights = await page
      .locator('.heat-map tbody tr')
      .evaluateAll((rows) => rows.map((row) => row.clientHeight));
    expect(Math.max(...heights)).toBeLessThan(90);
    expect(await page.locator('.causes > ul > li .status').allInnerTexts()).toEqual([
      expect.stringMatching(/8 queries in 12 cells, 24 failures/),
      expect.stringMatching(/8 queries in 12 cells, 24 failures/),
    ]);
  });

  test.each([360, 1280])(
    'a long id leaves room for the reason on its row at %i pixels',
    async (width) => {
      const { page } = await openReport(browser, runOf([failing(LONG_ID)]));
      await page.setViewportSize({ width, height: 900 });
      const { left, right } = await page.locator('.row .reason').evaluate((each) => {
        const box = each.getBoundingClientRect();
        return { left: box.left, right: box.right };
      });
      expect(right).toBeLessThanOrEqual(width);
      expect(right - left).toBeGreaterThan(80);
    },
  );

  test('of forty turns those with something found in them are in sight, the others unfold, and paper has them all', async () => {
    const run = runOf([failing('talk')]);
    const turn = { user: 'And then?', answer: 'It depends.', tools: [], latency_ms: 5, checks: [] };
    run.results[0]!.conversation = {
      turns: Array.from({ length: 40 }, (_, i) => ({
        ...{ ...turn, turn: i + 1, status: i === 19 ? ('fail' as const) : ('skip' as const) },
        ...(i === 29 ? { answer: null } : {}),
      })),
    };
    const { page } = await openReport(browser, run, { hash: '#/q/talk' });
    await page.waitForSelector('.quiet');
    expect(await page.locator('.quiet summary').allInnerTexts()).toEqual([
      'Turns 2 to 19: nothing was found in them',
      'Turns 21 to 29: nothing was found in them',
      'Turns 31 to 39: nothing was found in them',
    ]);
    expect(await page.locator('.turns > li > .facts:visible').allInnerTexts()).toEqual(
      [1, 20, 30, 40].map((number) => expect.stringContaining(`Turn ${number}`)),
    );
    const place = await page
      .locator('#decided')
      .evaluate((each) => each.getBoundingClientRect().top);
    expect(place).toBeLessThan(1500);
    await page.locator('.quiet summary').first().click();
    await page.waitForSelector('.quiet .turns >> text=Turn 7');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.turns > li > .facts:visible').count()).toBe(40);
  });

  test('a finding says how many steps it does not list', async () => {
    const { page } = await openReport(browser, runOf([failing('a')]), { hash: '#/q/a' });
    expect(await page.locator('.decided .steps').innerText()).toMatch(
      /^· 280 steps: 21 ?22.*40 and 260 more$/s,
    );
    expect(await page.locator('.decided .steps button').count()).toBe(20);
  });
});
