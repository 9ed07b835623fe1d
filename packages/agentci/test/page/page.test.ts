import { pageTrace } from '@agentci/reporters';
import { PAGE } from '@agentci/reporters/page';
import type { RunResult } from '@agentci/results';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launch } from './support/browser.ts';
import { foundText, openReport, openSample, rowsOf } from './support/open-report.ts';
import { nestedTrace, sampleResult, sampleRun } from './support/sample-run.ts';

const chromium = findChromium();
if ('missing' in chromium)
  process.stderr.write(`\nNOT TESTED in a browser: ${chromium.missing}\n\n`);

test('the page without data is one file under 400 kB that names nothing outside itself', () => {
  expect(Buffer.byteLength(PAGE)).toBeLessThan(400_000);
  const markup = PAGE.replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/g, '');
  expect(markup.match(/(?:src|href)="(?!data:)[^"]*"/g)).toBeNull();
  expect(PAGE).toContain("default-src 'none'");
});

describe.skipIf('missing' in chromium)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    if ('path' in chromium) browser = await launch(chromium.path);
  });
  afterAll(() => browser?.close());

  const open = (run: RunResult, how: Parameters<typeof openReport>[2] = {}) =>
    openReport(browser, run, how);
  const sample = (how: Parameters<typeof openSample>[1] = {}) => openSample(browser, how);
  const rows = rowsOf;
  const found = foundText;

  test('it works from a file, asks for nothing else, and shows the counts of every layer', async () => {
    const { page, problems, requests } = await sample();
    expect(await page.locator('.layers tr').allInnerTexts()).toEqual([
      expect.stringMatching(/Queries.*1 fail.*1 error.*2 warn.*15 pass.*1 skip/is),
      expect.stringMatching(/Correctness.*1 fail.*1 error.*17 pass/is),
      expect.stringMatching(/Path.*2 warn/is),
      expect.stringMatching(/Cost.*1 warn/is),
    ]);
    expect(await page.locator('header .status').innerText()).toMatch(/failed/);
    expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  test('filters by status, layer, tag and text narrow the list and add up', async () => {
    const { page } = await sample();
    expect(await found(page)).toBe('20 queries');
    await page.click('.chip:has-text("warn")');
    expect(await found(page)).toBe('2 of 20');
    await page.selectOption('[aria-label="Layer the status is of"]', 'path');
    expect(await rows(page).locator('code').allInnerTexts()).toEqual(['refund', 'cancel']);
    await page.selectOption('[aria-label="Tag"]', 'smoke');
    expect(await rows(page).locator('code').allInnerTexts()).toEqual(['refund']);
    await page.click('text=Clear');
    await page.fill('[type=search]', 'QUESTION 14');
    expect(await rows(page).locator('code').allInnerTexts()).toEqual(['faq-14']);
    await page.fill('[type=search]', 'nothing has this');
    expect(await page.locator('.empty').innerText()).toMatch(/No query/);
    await page.click('text=Clear');
    await page.selectOption('[aria-label="Order"]', 'worst');
    expect((await rows(page).locator('code').allInnerTexts()).slice(0, 2)).toEqual([
      'refund',
      'outage',
    ]);
    await page.selectOption('[aria-label="Order"]', 'cost');
    expect((await rows(page).locator('code').allInnerTexts())[0]).toBe('refund');
  });

  test('a count of the overview is a filter', async () => {
    const { page } = await sample();
    await page.click('.layers tr:has-text("Cost") .count:has-text("warn")');
    expect(await rows(page).locator('code').allInnerTexts()).toEqual(['invoice']);
  });

  test('everything can be reached from the keyboard', async () => {
    const { page } = await sample();
    await page.keyboard.press('/');
    await page.keyboard.type('billing');
    expect(await found(page)).toBe('3 of 20');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.activeElement?.tagName !== 'INPUT');
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-row') === '0');
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-row') === '1');
    await page.keyboard.press('k');
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-row') === '0');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h2:has-text("Please refund order 1182")');
    await page.keyboard.press('n');
    await page.waitForSelector('h2:has-text("Where is my invoice")');
    await page.keyboard.press('p');
    await page.waitForSelector('h2:has-text("Please refund order 1182")');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.list');
    expect(await found(page)).toBe('3 of 20');
    // Focuses a row with Tab instead of the list's keys.
    await page.locator('[data-row="1"]').focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('h2:has-text("Where is my invoice")');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.list');
    await page.keyboard.press('?');
    expect(await page.locator('dialog[open]').innerText()).toMatch(/Keyboard/);
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
  });

  test('a key pressed in the same breath as the search belongs to the list the search made', async () => {
    const { page } = await sample();
    await page.evaluate(async () => {
      const search = document.querySelector<HTMLInputElement>('[type=search]')!;
      search.value = 'billing';
      search.dispatchEvent(new Event('input', { bubbles: true }));
      // Laid out, but not painted yet.
      await new Promise((resolve) => setTimeout(resolve));
      document.body.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'j', bubbles: true, cancelable: true }),
      );
    });
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-row') === '0');
    expect(await found(page)).toBe('3 of 20');
  });

  const background = (page: Page) =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);

  test('the theme follows the system until one is chosen, and the choice is kept', async () => {
    const { page } = await sample({ scheme: 'dark' });
    const dark = await background(page);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await background(page);
    expect(dark).not.toBe(light);
    await page.keyboard.press('t');
    await page.keyboard.press('t');
    expect(await background(page)).toBe(dark);
    await page.reload();
    expect(await background(page)).toBe(dark);
  });

  test('the page of a query has its checks, its judge, its answer, its repeats and what the agent did', async () => {
    const { page, problems } = await sample({ hash: '#/q/refund' });
    const checks = await page.locator('.checks tbody tr').allInnerTexts();
    expect(checks[0]).toMatch(
      /fail\s+expected_in_answer\s+1 of 2 terms.*1\s+2\s+agentci_spec.yaml:12:7/s,
    );
    expect(await page.locator('.reply').innerText()).toMatch(/2 of 5.*does not say who decides/s);
    await page.click('text=diff with baseline v1');
    expect((await page.locator('.answer ins').allInnerTexts()).join(' ')).toContain('opened');
    expect(await page.locator('.answer del').count()).toBeGreaterThan(0);
    expect(await page.locator('section:has(h3:text("Repeats")) tbody tr').count()).toBe(3);
    expect(await page.locator('.sequence tr').first().locator('td.delete').allInnerTexts()).toEqual(
      ['check_policy', 'escalate'],
    );
    expect(await page.locator('.sequence tr').nth(1).locator('td.insert').allInnerTexts()).toEqual([
      'refund',
    ]);
    const left = await page
      .locator('.step')
      .evaluateAll((steps) => steps.map((step) => getComputedStyle(step).marginLeft));
    expect(left).toEqual(['0px', '20px', '20px', '20px', '20px', '40px', '40px']);
    await page.click('.steps .link');
    expect(await page.locator('#step-2[open] .fields').innerText()).toMatch(/lookup_order/);
    expect(await page.locator('#step-7 summary').innerText()).toMatch(
      /690 → 88 tokens.*\$0\.0002.*860 ms/s,
    );
    await page.click('#step-6 summary');
    expect(await page.locator('#step-6 .fields').innerText()).toMatch(
      /amount needs approval.*42\.5/s,
    );
    expect(problems).toEqual([]);
  });

  test('charts are drawn, and say in words what they show', async () => {
    const { page, problems } = await sample({ hash: '#/charts' });
    await page.waitForSelector('.plot canvas');
    expect(await page.locator('.plot canvas').count()).toBe(6);
    const painted = await page.locator('.plot canvas').evaluateAll((all) =>
      all.map((one) => {
        const canvas = one as HTMLCanvasElement;
        return canvas
          .getContext('2d')!
          .getImageData(0, 0, canvas.width, canvas.height)
          .data.some((byte) => byte > 0);
      }),
    );
    expect(painted).toEqual(Array(6).fill(true));
    expect(await page.locator('.plot').first().getAttribute('aria-label')).toMatch(
      /known for 19 of 20, least \$0\.0010/,
    );
    expect(problems).toEqual([]);
  });

  test('two runs are compared: metrics, flips, and the queries that moved most', async () => {
    const { page } = await sample({ hash: '#/compare' });
    const text = await page.locator('main').innerText();
    expect(text).toMatch(/20261114-090000000-1a2b → 20261115-214012345-3f2a/);
    expect(await page.locator('.flips li').allInnerTexts()).toEqual([
      expect.stringMatching(/pass → .*fail refund/s),
    ]);
    expect(text).toMatch(
      /may be noise.*Please refund order 1182.*more expensive\s+\$0\.0012\s+\$0\.0147/s,
    );
    expect(text).toMatch(/passed before and fails now.*Inconclusive: pass rate/s);
    await page.click('.flips summary');
    await page.waitForSelector('.pair ins');
    expect((await page.locator('.pair ins').allInnerTexts()).join(' ')).toContain('opened');
    await page.waitForSelector(
      '.pair :text("The page has no recording of 20261114-090000000-1a2b")',
    );
  });

  test.each(['', '#/q/refund', '#/q/outage', '#/charts', '#/compare', '#/compare?q=refund'])(
    'axe finds nothing to object to at "%s", light or dark',
    async (hash) => {
      const { page } = await sample({ hash });
      await page.locator('details').evaluateAll((all) => {
        for (const one of all) (one as HTMLDetailsElement).open = true;
      });
      await page.evaluate(axe.source);
      const violations = async (rules: string[] | undefined) =>
        page.evaluate(async (only) => {
          const tool = (globalThis as unknown as { axe: typeof axe }).axe;
          const report = await tool.run(document, only ? { runOnly: only } : {});
          return report.violations.map(
            ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
          );
        }, rules);
      expect(await violations(undefined)).toEqual([]);
      // Another theme only changes colors.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await violations(['color-contrast'])).toEqual([]);
    },
  );

  test('text from agents stays text, wherever it is shown', async () => {
    const evil =
      '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><svg onload=window.pwned=1>' +
      '"><a href="javascript:window.pwned=1">x</a> \u202eevil\u0007 <!-- <script> __proto__ ${1+1} $& \ud800';
    const result = sampleResult({
      id: 'x"><img onerror=window.pwned=1>',
      query: evil,
      tags: [evil],
      answer: evil,
      correctness: 'fail',
    });
    result.correctness.checks[0]!.message = evil;
    result.correctness.checks[0]!.evidence = [{ text: evil }];
    result.correctness.details.judge = [
      { check: evil, model: evil, rationale: evil, score: 1, label: evil },
    ];
    const hostile = {
      ...result,
      description: evil,
      error: { kind: 'agent' as const, message: evil, stderr: evil },
      xfail: { reason: evil, status: 'fail' as const },
      metrics: { [evil]: { value: 1, detail: { evil } } },
    };
    const run = sampleRun([hostile], {
      agent: evil,
      notices: [evil],
      spec: { file: evil, hash: '' },
    });
    const trace = pageTrace({ ...nestedTrace('t', evil), error: { message: evil } });
    trace.steps[2]!.title = evil;
    const evidence = {
      byQuery: new Map([
        [
          hostile.id,
          { traces: [trace], shown: 0, baseline: { version: evil, tools: [evil], answer: evil } },
        ],
      ]),
      notes: [evil],
    };
    const { page, problems, requests } = await open(run, { evidence });
    await page.click('[data-row="0"]');
    await page.waitForSelector('.timeline');
    await page.locator('details').evaluateAll((all) => {
      for (const one of all) (one as HTMLDetailsElement).open = true;
    });
    await page.click('.toggle');
    await page.waitForTimeout(200);
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false);
    expect(
      await page
        .locator('#app img, #app svg, #app script, #app [onerror], #app a[href^="javascript"]')
        .count(),
    ).toBe(0);
    expect(await page.locator('article h2').innerText()).toContain('<img src=x onerror');
    expect(await page.locator('article h2').innerText()).toContain('[U+202E]evil\u2407');
    expect(problems).toEqual([]);
    expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1);
  });

  test('even markup that got in could not run a script', async () => {
    const { page } = await sample();
    await page.evaluate(() => {
      document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.pwned=1">');
      const script = document.createElement('script');
      script.textContent = 'window.pwned=1';
      document.body.append(script);
    });
    await page.waitForTimeout(200);
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false);
  });
});
