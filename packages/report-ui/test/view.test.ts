import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { RunLibrary } from '../../agentci/src/cli/view/run-library.ts';
import { startViewServer } from '../../agentci/src/cli/view/server.ts';
import { RunStore } from '../../agentci/src/store/run-store.ts';
import { findChromium, launch } from './support/browser.ts';
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
    const server = await startViewServer({ library: new RunLibrary(root, cwd), port: 0, version: '0.0.0' });
    onTestFinished(() => server.close());
    const page = await browser.newPage({ viewport: { width: 1240, height: 860 } });
    onTestFinished(() => page.close());
    page.setDefaultTimeout(15_000);
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
    return { server, page, problems, hosts, start };
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
    // What failed comes first.
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
      return (await tool.run(document)).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
    expect(violations).toEqual([]);
    await page.click('tbody tr:has-text("r2") a');
    await page.waitForSelector('.about:has-text("run r2")');
    await page.click('nav >> text=Compare');
    // The run before is chosen already.
    await page.waitForSelector('.flips li:has-text("refund")');
    expect(await page.locator('[aria-label="Run before"]').inputValue()).toBe('r1');
    await page.selectOption('[aria-label="Run before"]', '');
    await page.waitForSelector('text=No run to compare with is chosen');
    expect(problems).toEqual([]);
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
