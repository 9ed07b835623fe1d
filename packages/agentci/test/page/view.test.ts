import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendRuns, RunStore } from '@agentci/run';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { RunLibrary } from '../../src/view/run-library.ts';
import { startViewServer } from '../../src/view/server.ts';
import { findChromium, freshPage, launch } from './support/browser.ts';
import { nestedTrace, sampleReport, sampleResult } from './support/sample-run.ts';

const chromium = findChromium();

describe.skipIf('missing' in chromium)('agentci view in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    if ('path' in chromium) browser = await launch(chromium.path);
  });
  afterAll(() => browser?.close());

  async function serve() {
    const cwd = mkdtempSync(join(tmpdir(), 'agentci-view-'));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const root = join(cwd, '.agentci', 'runs');
    const server = await startViewServer({
      library: new RunLibrary(root, cwd),
      port: 0,
      version: '0.0.0',
    });
    onTestFinished(() => server.close());
    const page = await freshPage(browser, { width: 1240, height: 860 });
    const problems: string[] = [];
    const hosts = new Set<string>();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    const start = (id: string, started_at: string) =>
      RunStore.create(root, {
        run_id: id,
        agent: 'support-router',
        spec: { file: 'agentci_spec.yaml', hash: 'h' },
        started_at,
      });
    return { server, page, problems, hosts, start, history: join(cwd, '.agentci', 'history') };
  }

  test('a run appears while it goes on, query by query, and ends with its verdict', async () => {
    const { server, page, problems, hosts, start } = await serve();
    await page.goto(server.url);
    await page.waitForSelector('text=Nothing has been run here yet');

    const store = start('r1', '2026-11-15T21:40:12.345Z');
    const result = sampleResult({ id: 'a', query: 'First question', answer: 'x' });
    store.record({ id: 'a', run: 1, result }, nestedTrace('a', 'x'));
    await page.waitForSelector('[data-row="0"]:has-text("First question")');
    expect(await page.locator('header .status').innerText()).toBe('running');
    const second = sampleResult({ id: 'b', query: 'Second question', correctness: 'fail' });
    store.record({ id: 'b', run: 1, result: second }, undefined);
    // Failures come first.
    await page.waitForSelector('[data-row="0"]:has-text("Second question")');

    await page.click('[data-row="1"]');
    await page.waitForSelector('#step-6 :text("refund")');
    const { run } = sampleReport();
    store.finish({ ...run, run_id: 'r1', results: [result, second] });
    await page.waitForSelector('header .status.fail');
    expect(problems).toEqual([]);
    expect([...hosts]).toEqual([new URL(server.url).host]);
  });

  test('earlier runs are listed with trends, and two of them compared', async () => {
    const { server, page, problems, start } = await serve();
    const { run, before } = sampleReport();
    start('r1', '2026-11-14T09:00:00.000Z').finish({ ...before.run, run_id: 'r1' });
    start('r2', '2026-11-15T21:40:12.345Z').finish({ ...run, run_id: 'r2' });
    start('r3', '2026-11-15T22:00:00.000Z').close();
    await page.goto(`${server.url}#/runs`);
    await page.waitForSelector('.plot canvas');
    expect(await page.locator('.plot').count()).toBe(3);
    expect(await page.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/r3.*not finished/s),
      expect.stringMatching(/r2.*failed/s),
      expect.stringMatching(/r1.*could not tell/s),
    ]);
    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      const tool = (globalThis as unknown as { axe: typeof axe }).axe;
      return (await tool.run(document)).violations.map(
        ({ id, nodes }) => `${id}: ${nodes[0]?.html}`,
      );
    });
    expect(violations).toEqual([]);
    await page.click('tbody tr:has-text("r2") a');
    await page.waitForSelector('.about:has-text("run r2")');
    await page.click('nav >> text=Compare');
    // The previous run is selected by default.
    await page.waitForSelector('.flips li:has-text("refund")');
    expect(await page.locator('[aria-label="Before"]').inputValue()).toBe('r1');
    await page.selectOption('[aria-label="Before"]', '');
    await page.waitForSelector('text=Nothing to compare with is chosen');
    expect(problems).toEqual([]);
  });

  test('trends come from the history: rates, what flakes, and since which commit a query fails', async () => {
    const { server, page, problems, start, history } = await serve();
    start('r9', '2026-11-15T21:40:12.345Z').finish({ ...sampleReport().run, run_id: 'r9' });
    const evil = '<img src=x onerror=window.pwned=1>';
    const verdicts = { refund: '110000', steady: '111111', [evil]: '101010' };
    appendRuns(
      history,
      Array.from({ length: 6 }, (_, i) => ({
        run: {
          ...{
            id: `h${i}`,
            at: `2026-11-0${i + 1}T09:00:00.000Z`,
            agent: 'support-router',
            spec: 's',
            hash: 'h',
          },
          ...{
            commit: `c0ffee${i}`,
            branch: i === 3 ? evil : 'main',
            models: [],
            total: 3,
            warnings: 0,
            errors: 0,
          },
          ...{
            passed: 3 - (i % 2) - (i > 1 ? 1 : 0),
            failed: (i % 2) + (i > 1 ? 1 : 0),
            skipped: 0,
            usd: 0.01 * i,
          },
          ...{ unpriced: 0, tokens: 1, p50_ms: 100 + i, p95_ms: 200, exit: 1 },
        },
        queries: Object.entries(verdicts).map(([id, passed]) => ({
          ...{ id, decided: 1, passed: Number(passed[i]) },
          status: passed[i] === '1' ? ('pass' as const) : ('fail' as const),
        })),
      })),
    );
    await page.goto(`${server.url}#/runs`);
    await page.waitForSelector('.plot canvas');
    // Charts come before tables.
    await page.waitForSelector('table:has(caption:text("of the history")) tbody tr >> nth=1');
    await page.waitForSelector('h3:text("Flakiest") + table tbody tr');
    await page.waitForSelector('.chart:has-text("Pass rate") summary');
    // The default is the branch of the newest run.
    expect(await page.locator('.choice select').inputValue()).toBe('main');
    expect(
      await page.locator('table:has(caption:text("of the history")) tbody tr').first().innerText(),
    ).toMatch(/refund.*c0ffee2.*c0ffee1.*3/s);
    await page.selectOption('.choice select', '*');
    await page.waitForSelector(
      'table:has(caption:text("of the history")) tbody tr >> nth=0 >> text=/^4/',
    );
    expect(
      await page.locator('table:has(caption:text("of the history")) tbody tr').allInnerTexts(),
    ).toEqual([
      expect.stringMatching(/refund.*c0ffee2.*c0ffee1.*4/s),
      expect.stringMatching(/img.*c0ffee5.*c0ffee4.*may be chance/s),
    ]);
    expect(await page.locator('h3:text("Flakiest") + table tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/img.*50 % \(3 of 6\).*\d+(\.\d)? % to .*5/s),
    ]);
    await page.click('.chart:has-text("Pass rate") summary');
    await page.waitForSelector('.chart:has-text("Pass rate") tbody tr');
    expect(await page.locator('.chart:has-text("Pass rate") tbody tr').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/h0.*100 % \(3 of 3\).*43\.\d % to 100 %/s)]),
    );
    await page.selectOption('.choice select', 'main');
    await page.waitForFunction(() => document.querySelectorAll('.chart tbody tr').length === 5);
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false);
    expect(await page.locator('#app img').count()).toBe(0);
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        width,
      );
    }
    expect(problems).toEqual([]);
  });

  test('the link to a query names its run, so that it leads there when newer runs came', async () => {
    const { server, page, start } = await serve();
    const { run } = sampleReport();
    start('r1', '2026-11-14T09:00:00.000Z').finish({ ...run, run_id: 'r1' });
    start('r2', '2026-11-15T09:00:00.000Z').finish({ ...run, run_id: 'r2', results: [] });
    await page.goto(`${server.url}#/q/refund?run=r1`);
    await page.waitForSelector('h2:has-text("Please refund order 1182")');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('text=Copy link');
    await page.waitForSelector('text=copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `${server.url}#/q/refund?run=r1`,
    );
    await page.reload();
    await page.waitForSelector('h2:has-text("Please refund order 1182")');
  });

  test('a server that went away is named', async () => {
    const { server, page, start } = await serve();
    start('r1', '2026-11-14T09:00:00.000Z').finish(sampleReport().run);
    await page.goto(server.url);
    await page.waitForSelector('.list');
    await server.close();
    await page.waitForSelector('[role=alert]');
  });
});
