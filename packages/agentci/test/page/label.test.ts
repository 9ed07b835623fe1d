import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LABEL_PAGE } from '../../src/label/label-page.gen.ts';
import { LabelingSession } from '../../src/label/labeling-session.ts';
import { RunLibrary } from '../../src/view/run-library.ts';
import { startViewServer } from '../../src/view/server.ts';
import { findChromium, freshPage, launch } from './support/browser.ts';
import { sampleResult, sampleRun } from './support/sample-run.ts';

const chromium = findChromium();
const HOSTILE = `<img src=x onerror="globalThis.hit=1"> \u202egnp ${'w'.repeat(3000)} </script>`;

describe.skipIf('missing' in chromium)('labels in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    if ('path' in chromium) browser = await launch(chromium.path);
  });
  afterAll(() => browser?.close());

  async function open({ width = 1240, text = 'The answer' } = {}) {
    const cwd = mkdtempSync(join(tmpdir(), 'agentci-label-'));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const folder = join(cwd, 'labels');
    const run = sampleRun(
      ['a', 'b', 'c'].map((id) => sampleResult({ id, query: `${text} ${id}?`, answer: text })),
    );
    const sessionOf = (rater: string) => {
      const made = new LabelingSession({
        run,
        suite: undefined,
        traces: undefined,
        folder,
        rater,
        now: Date.now,
      });
      onTestFinished(() => made.close());
      return made;
    };
    const labels = sessionOf('ada');
    const library = new RunLibrary(join(cwd, 'runs'), cwd);
    const server = await startViewServer({
      library,
      port: 0,
      version: '0',
      labeling: { labels, page: LABEL_PAGE },
    });
    onTestFinished(() => server.close());
    const page = await freshPage(browser, { width, height: 800 });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(server.url);
    await page.waitForSelector('h2.asked');
    const lines = () =>
      readFileSync(join(folder, 'ada.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(
          (line) =>
            JSON.parse(line) as { id: string; label: string | null; score?: number; note?: string },
        );
    return { page, problems, lines, server, sessionOf, labels };
  }

  test('three answers are labelled without a mouse', async () => {
    const { page, problems, lines } = await open();
    await page.keyboard.press('n');
    await page.keyboard.type('pass by far');
    await page.keyboard.press('Escape');
    await page.keyboard.press('p');
    await page.waitForSelector('text=What others said');
    const next = async () => {
      await page.keyboard.press('s');
      await page.waitForSelector('.yours .status', { state: 'detached' });
    };
    await next();
    await page.waitForSelector('text=1 of 3');
    await page.keyboard.press('2');
    await page.waitForSelector('text=2 of 3');
    await page.keyboard.press('u');
    await page.waitForSelector('text=1 of 3');
    await page.keyboard.press('5');
    await page.waitForSelector('text=2 of 3');
    await next();
    await page.keyboard.press('f');
    await page.waitForSelector('text=3 of 3');
    await page.keyboard.press('s');
    await page.waitForSelector('text=All 3 answers have your label');
    expect(lines().map(({ label, score, note }) => [label, score, note])).toEqual([
      ['pass', undefined, 'pass by far'],
      ['fail', 2, undefined],
      [null, undefined, undefined],
      ['pass', 5, undefined],
      ['fail', undefined, undefined],
    ]);
    expect(problems).toEqual([]);
  });

  test('answers with disagreeing raters form a separate queue', async () => {
    const { page, sessionOf, labels } = await open();
    const [id] = labels.state().queue;
    await sessionOf('ben').save({ id, label: 'fail', note: 'too vague' });
    await page.keyboard.press('p');
    await page.waitForSelector('text=too vague');
    await page.waitForSelector('text=ada and ben agree on 0 of 1');
    await page.keyboard.press('d');
    await page.waitForSelector('text=raters disagree');
    await page.keyboard.press('f');
    await page.waitForSelector('text=1 label was changed after');
    await page.waitForSelector('text=ada and ben agree on 0 of 1');
  });

  test.each([360, 390, 1240])(
    'at %i px nothing overflows, nothing runs, and axe finds nothing',
    async (width) => {
      const { page, problems } = await open({ width, text: HOSTILE });
      await page.keyboard.press('p');
      await page.waitForSelector('text=What others said');
      expect(
        await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        ),
      ).toBe(0);
      expect(await page.evaluate(() => (globalThis as { hit?: number }).hit)).toBeUndefined();
      expect(await page.locator('pre').first().innerText()).toContain('[U+202E]');
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        const tool = (globalThis as unknown as { axe: typeof axe }).axe;
        return (await tool.run(document)).violations.map(
          ({ id, nodes }) => `${id}: ${nodes[0]?.html}`,
        );
      });
      expect(violations).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  test('a key that is pressed before the next answer is in sight labels neither of the two', async () => {
    const { page, lines } = await open();
    await page.keyboard.press('p');
    await page.waitForSelector('text=What others said');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/labels/item*', async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press('s');
    await page.keyboard.press('f');
    release();
    await page.waitForSelector('.yours .status', { state: 'detached' });
    await page.keyboard.press('1');
    await page.waitForSelector('text=2 of 3');
    expect(lines().map(({ label, score }) => [label, score])).toEqual([
      ['pass', undefined],
      ['fail', 1],
    ]);
  });

  test('a label that could not be saved is not shown as saved', async () => {
    const { page, server } = await open();
    await server.close();
    await page.keyboard.press('p');
    await page.waitForSelector('[role=alert]');
    expect(await page.locator('.yours .status').count()).toBe(0);
  });
});
