import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { baselinePath, RunStore } from '@agentci/run';
import { simpleTrace } from '@agentci/trace';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { RunLibrary } from '../../src/view/run-library.ts';
import { startViewServer } from '../../src/view/server.ts';
import { versionLibrary } from '../../src/view/version-library.ts';
import { findChromium, freshPage, launch } from './support/browser.ts';
import { sampleReport } from './support/sample-run.ts';

const chromium = findChromium();
const EVIL = '<img src=x onerror=window.pwned=1>';
const LONG_TOOL = 'look_up_the_order_in_the_archive_of_the_warehouse_system_v2_x';

const SPEC = `agent: support-router
queries:
  - {id: refund, query: 'Please refund order 1182', correctness: {expected_in_answer: [refunded]}}
  - {id: hours, query: 'When are you open?', correctness: {expected_in_answer: [nine]}}
  - {id: polite, query: 'Thanks!', correctness: {llm_judge: [{rule: is it polite}]}}
`;

describe.skipIf('missing' in chromium)('baseline versions in Compare', () => {
  let browser: Browser;
  beforeAll(async () => {
    if ('path' in chromium) browser = await launch(chromium.path);
  });
  afterAll(() => browser?.close());

  async function serve({ hasRun }: { hasRun: boolean }) {
    const cwd = mkdtempSync(join(tmpdir(), 'agentci-versions-'));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const spec = join(cwd, 'agentci_spec.yaml');
    writeFileSync(spec, SPEC);
    const save = (
      version: string,
      id: string,
      query: string,
      given: { answer: string; tools: string[]; ms: number },
    ) => {
      const file = baselinePath({
        dir: join(cwd, 'baselines'),
        agent: 'support-router',
        version,
        queryId: id,
      });
      mkdirSync(dirname(file), { recursive: true });
      const { answer, tools, ms } = given;
      const calls = tools.map((name) => ({ name }));
      const trace = simpleTrace({
        query,
        answer,
        tool_calls: calls,
        cost_usd: ms / 1e5,
        latency_ms: ms,
      });
      const told = { version, agent: 'support-router', query, query_id: id, metadata: {}, trace };
      writeFileSync(file, JSON.stringify({ schema: 'agentci.baseline/1', ...told }));
    };
    const asked = 'Please refund order 1182';
    save('v1', 'refund', asked, {
      answer: 'It is refunded.',
      tools: ['lookup', 'refund'],
      ms: 900,
    });
    save('v2', 'refund', asked, {
      answer: `Ask a colleague. ${EVIL}`,
      tools: ['lookup', LONG_TOOL, EVIL],
      ms: 2100,
    });
    for (const version of ['v1', 'v2']) {
      save(version, 'hours', 'When are you open?', { answer: 'From nine.', tools: [], ms: 100 });
      save(version, 'polite', 'Thanks!', { answer: 'You are welcome.', tools: [], ms: 100 });
    }
    const root = join(cwd, '.agentci', 'runs');
    if (hasRun)
      RunStore.create(root, {
        ...{
          run_id: 'r1',
          agent: 'support-router',
          spec: { file: 'agentci_spec.yaml', hash: 'h' },
        },
        started_at: '2026-11-14T09:00:00.000Z',
      }).finish({ ...sampleReport().run, run_id: 'r1' });
    const io = { cwd: process.cwd(), env: {} } as unknown as Io;
    const library = new RunLibrary(root, cwd, versionLibrary(spec, io));
    const server = await startViewServer({ library, port: 0, version: '0.0.0' });
    onTestFinished(() => server.close());
    const page = await freshPage(browser, { width: 1240, height: 860 });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    return { server, page, problems };
  }

  test('two versions: flips, cost changes, both answers and both paths, at a separate URL', async () => {
    const { server, page, problems } = await serve({ hasRun: true });
    await page.goto(`${server.url}#/compare`);
    await page.waitForSelector('[aria-label="After"] option[value="baseline:support-router/v2"]', {
      state: 'attached',
    });
    expect(await page.locator('[aria-label="Before"] optgroup').count()).toBe(2);
    await page.selectOption('[aria-label="After"]', 'baseline:support-router/v2');
    await page.selectOption('[aria-label="Before"]', 'baseline:support-router/v1');
    await page.waitForSelector('text=baseline v1 → baseline v2');
    expect(await page.locator('.verdict-words').innerText()).toMatch(
      /^1 query passed before and fails now\./,
    );
    expect(await page.locator('.compare').innerText()).toMatch(
      /each may be noise\. The summary of all queries/,
    );
    // A verdict that needs a judge is reported as missing.
    expect(await page.locator('.compare .notice').allInnerTexts()).toContainEqual(
      expect.stringContaining('could not be judged here'),
    );
    expect(await page.locator('h3:has-text("Not in the pass rate") + p').innerText()).toBe(
      'polite',
    );
    await page.click('.flips summary');
    await page.waitForSelector('.flips .sequence .insert >> text=look_up_the_order');
    expect(await page.locator('.flips del').allInnerTexts()).toContain('refunded.');
    expect(await page.locator('.flips .side a').count()).toBe(0);
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false);
    expect(await page.locator('#app img').count()).toBe(0);

    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      const tool = (globalThis as unknown as { axe: typeof axe }).axe;
      return (await tool.run(document)).violations.map(
        ({ id, nodes }) => `${id}: ${nodes[0]?.html}`,
      );
    });
    expect(violations).toEqual([]);
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        width,
      );
    }

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('text=Copy link');
    await page.waitForSelector('text=copied');
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    expect(link.hash).toContain('before=baseline%3Asupport-router%2Fv1');
    expect(link.hash).toContain('after=baseline%3Asupport-router%2Fv2');
    await page.goto('about:blank');
    await page.goto(link.href);
    await page.waitForSelector('text=baseline v1 → baseline v2');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('select')].every(({ value }) => value.startsWith('baseline:')),
    );
    expect(problems).toEqual([]);
  });

  test('a version and a run, in either order, and the query page shows the version too', async () => {
    const { server, page, problems } = await serve({ hasRun: true });
    await page.goto(
      `${server.url}#/compare?before=${encodeURIComponent('baseline:support-router/v1')}`,
    );
    await page.waitForSelector('text=baseline v1 → r1');
    await page.waitForSelector(
      '.notice:has-text("run r1 was judged by another state of the spec")',
    );
    await page.click('.flips li:has-text("refund") summary');
    await page.click('.flips .side a');
    await page.waitForSelector('text=In baseline v1');
    await page.goto(
      `${server.url}#/compare?before=r1&after=${encodeURIComponent('baseline:support-router/v1')}`,
    );
    await page.waitForSelector('text=r1 → baseline v1');
    expect(problems).toEqual([]);
  });

  test('versions can be compared before anything was run, and one that is gone is named', async () => {
    const { server, page } = await serve({ hasRun: false });
    const [v1, v2] = ['v1', 'v2'].map((version) =>
      encodeURIComponent(`baseline:support-router/${version}`),
    );
    await page.goto(`${server.url}#/compare?before=${v1}&after=${v2}`);
    await page.waitForSelector('text=baseline v1 → baseline v2');
    await page.goto(`${server.url}#/compare?before=${v1}9&after=${v2}`);
    await page.waitForSelector('text=One of the two is not there');
  });
});
