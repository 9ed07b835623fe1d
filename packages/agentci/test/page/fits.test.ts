import { compareRuns } from '@agentci/run/baseline';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launch } from './support/browser.ts';
import { runOfText } from './support/hostile-run.ts';
import { sampleReport } from './support/sample-run.ts';
import { writeReport } from './support/write-report.ts';

const chromium = findChromium();
const WIDTHS = [360, 390, 768, 1280];

const TEXTS = {
  'a word without end': 'aVeryLongWordWithoutABreak'.repeat(20),
  'JSON without a space': JSON.stringify({
    a: Array.from({ length: 60 }, (_, i) => ({ [`key${i}`]: i ** 9 })),
  }),
  markup:
    '</script><img src=x onerror=window.pwned=1><a href="javascript:window.pwned=1">x</a>\u202e`x` [y](z)',
};

describe.skipIf('missing' in chromium)('every view', () => {
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    if (!('path' in chromium)) return;
    browser = await launch(chromium.path);
    page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    page.setDefaultTimeout(15_000);
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('dialog', (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
  afterAll(() => browser?.close());

  /** Elements wider than the window, except inside scroll containers. */
  const tooWide = () =>
    page.evaluate(() => {
      const scrolls = (each: Element | null): boolean =>
        each !== null &&
        (getComputedStyle(each).overflowX !== 'visible' || scrolls(each.parentElement));
      const over = [...document.body.querySelectorAll('*')].filter(
        (each) =>
          each.getBoundingClientRect().right > innerWidth + 1 &&
          !scrolls(each.parentElement) &&
          !each.closest('.sr'),
      );
      const { scrollWidth } = document.documentElement;
      return [
        ...(scrollWidth > innerWidth ? [`the page has ${scrollWidth} px`] : []),
        ...over.slice(0, 3).map((each) => `${each.tagName}.${each.className}`),
      ];
    });

  async function visit(address: string, hash: string): Promise<void> {
    await page.goto(`${address}${hash}`);
    await page.waitForSelector('main > *');
    if (hash.startsWith('#/q/'))
      await page.waitForSelector(hash === '#/q/outage' ? '#decided' : '.timeline');
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('details')) one.open = true;
    });
  }

  async function misfits(): Promise<string[]> {
    const found: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      found.push(...(await tooWide()).map((each) => `at ${width}: ${each}`));
    }
    return found;
  }

  test.each(['', '#/q/refund', '#/q/outage', '#/charts', '#/compare', '#/compare?q=refund'])(
    'of an ordinary run fits from 360 pixels up: "%s"',
    async (hash) => {
      const { run, ...rest } = sampleReport();
      await visit(writeReport(run, rest), hash);
      expect(await misfits()).toEqual([]);
    },
  );

  test.each(Object.entries(TEXTS))(
    'of a run full of %s fits, and stays text',
    async (_, text) => {
      const { run, evidence } = runOfText(text);
      const address = writeReport(run, {
        evidence,
        before: { run, comparison: compareRuns({ before: run, after: run }) },
      });
      const name = (cell: string) => `${text} (model=${cell})`;
      const found: string[] = [];
      for (const hash of [
        '',
        `#/q/${encodeURIComponent(name(text))}`,
        `#/q/${encodeURIComponent(name(`${text}-2`))}`,
        '#/charts',
        `#/compare?${new URLSearchParams({ q: name(text) })}`,
        `#/compare?${new URLSearchParams({ from: `model=${text}`, to: `model=${text}-2`, q: text })}`,
      ]) {
        await visit(address, hash);
        await page.waitForTimeout(50);
        found.push(...(await misfits()).map((each) => `${hash.slice(0, 12)} ${each}`));
        expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false);
        expect(
          await page
            .locator('#app img, #app script, #app [onerror], #app a[href^="javascript"]')
            .count(),
        ).toBe(0);
      }
      expect(found).toEqual([]);
      expect(problems).toEqual([]);
    },
    60_000,
  );
});
