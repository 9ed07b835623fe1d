import { pageTrace } from '@agentci/reporters';
import type { RunResult } from '@agentci/results';
import { simpleTrace } from '@agentci/trace';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launch } from './support/browser.ts';
import { runOfText } from './support/hostile-run.ts';
import { openReport, openSample, rowsOf } from './support/open-report.ts';
import { sampleResult, sampleRun } from './support/sample-run.ts';

const chromium = findChromium();

describe.skipIf('missing' in chromium)('a query', () => {
  let browser: Browser;
  beforeAll(async () => {
    if ('path' in chromium) browser = await launch(chromium.path);
  });
  afterAll(() => browser?.close());

  const open = (run: RunResult, how: Parameters<typeof openReport>[2] = {}) =>
    openReport(browser, run, how);
  const sample = (how: Parameters<typeof openSample>[1] = {}) => openSample(browser, how);
  const rows = rowsOf;

  test('a query answers in order: asked, said, wanted, decided by, trajectory, and only then the rest', async () => {
    const { page } = await sample({ hash: '#/q/refund' });
    await page.waitForSelector('.timeline');
    expect(
      (await page.locator('article h2, article h3').allInnerTexts()).map(
        (text) => text.split('\n')[0],
      ),
    ).toEqual([
      'Please refund order 1182',
      'Said',
      'Wanted',
      'Decided by',
      'Trajectory',
      ...['Tools', 'Repeats', 'Correctness', 'Path', 'Cost', 'Judge', 'Metrics'],
    ]);
    expect(await page.locator('.answer mark.expected').allInnerTexts()).toEqual(['ticket']);
    expect(await page.locator('.term.unmet').innerText()).toContain('approval by a person');
    expect(await page.locator('.decided li').allInnerTexts()).toEqual([
      expect.stringMatching(
        /correctness.*expected_in_answer.*agentci_spec.yaml:12:7.*missing from the answer/s,
      ),
    ]);
    expect(await page.locator('.lane-name').allInnerTexts()).toEqual(['Triage', 'Billing', 'time']);
    await page.click('.bar-step.bad');
    expect(await page.locator('#step-6[open] .fields').innerText()).toMatch(
      /amount needs approval.*42\.5/s,
    );
  });

  test('failures come first, each with its reason', async () => {
    const { page } = await sample();
    expect(await rows(page).first().innerText()).toMatch(
      /refund.*missing from the answer: "approval by a person"/s,
    );
    expect(await rows(page).nth(1).innerText()).toMatch(/outage.*connection refused/s);
    expect(await rows(page).first().locator('.layer-mark').allInnerTexts()).toEqual([
      expect.stringContaining('correctness'),
      expect.stringContaining('path'),
      expect.stringContaining('cost'),
    ]);
  });

  test('a link to a query works from a file and after a reload, and the query can be copied as an issue', async () => {
    const { page, problems } = await sample({ hash: '#/q/refund' });
    await page.reload();
    await page.waitForSelector('h2:has-text("Please refund order 1182")');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('text=Copy link');
    await page.waitForSelector('.copy:has-text("Copy link") >> text=copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
    await page.click('text=Copy as issue');
    await page.waitForSelector('.copy:has-text("Copy as issue") >> text=copied');
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toContain('agentci test --ids refund');
    expect(problems).toEqual([]);
  });

  test('a browser that copies nothing shows the text to copy', async () => {
    const { page } = await sample({ hash: '#/q/refund' });
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      document.execCommand = () => false;
    });
    await page.click('text=Copy as issue');
    expect(await page.locator('.copy textarea').inputValue()).toContain('### refund: fail');
  });

  test('repeated steps are one line that unfolds, and a recording without times is marked', async () => {
    const trace = pageTrace(
      simpleTrace({
        ...{ id: 'a', query: 'q', answer: 'x' },
        tool_calls: Array.from({ length: 11 }, (_, i) => ({
          name: 'retriever_tool',
          args: { page: i },
        })),
      }),
    );
    const run = sampleRun([sampleResult({ id: 'a', query: 'q', path: 'warn' })]);
    const evidence = { byQuery: new Map([['a', { traces: [trace], shown: 0 }]]), notes: [] };
    const { page } = await open(run, { hash: '#/q/a', evidence });
    expect(await page.locator('.step.group > summary').innerText()).toContain(
      'retriever_tool × 11',
    );
    expect(await page.locator('.timeline').innerText()).toContain('has no times');
    await page.click('.decided .link');
    expect(await page.locator('.step.group[open] #step-2[open] .fields').innerText()).toContain(
      '"page": 1',
    );
  });

  test('calls with a duration but no start show it, and only the start is unknown', async () => {
    const trace = pageTrace(
      simpleTrace({
        ...{ id: 'a', query: 'q', answer: 'x' },
        tool_calls: [
          { name: 'search', args: {}, latency_ms: 120 },
          { name: 'book', args: {}, latency_ms: 2300 },
        ],
      }),
    );
    const run = sampleRun([sampleResult({ id: 'a', query: 'q', path: 'warn' })]);
    const evidence = { byQuery: new Map([['a', { traces: [trace], shown: 0 }]]), notes: [] };
    const { page } = await open(run, { hash: '#/q/a', evidence });
    const text = await page.locator('.timeline').innerText();
    expect(text).toContain('has no start times');
    expect(text).not.toContain('has no times');
    expect(await page.locator('.step summary').allInnerTexts()).toEqual([
      expect.stringMatching(/search[\s\S]*120 ms/),
      expect.stringMatching(/book[\s\S]*2\.30 s/),
    ]);
  });

  test('a cell of the matrix opens next to the reference', async () => {
    const { run, evidence } = runOfText('cellular');
    const { page } = await open(run, { evidence });
    expect(await page.locator('.heat-map td').allInnerTexts()).toEqual([
      expect.stringMatching(/100 %/),
      expect.stringMatching(/0 %.*−100 points/s),
    ]);
    await page.click('.heat-map td:nth-of-type(2) a');
    await page.waitForSelector('.one-pair .sequence');
    expect(await page.locator('.one-pair').innerText()).toMatch(
      /before: model=cellular.*after: model=cellular-2/s,
    );
    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      const tool = (globalThis as unknown as { axe: typeof axe }).axe;
      return (await tool.run(document)).violations.map(
        ({ id, nodes }) => `${id}: ${nodes[0]?.html}`,
      );
    });
    expect(violations).toEqual([]);
  });

  describe('a conversation', () => {
    const long = 'aVeryLongWordWithoutABreak'.repeat(20);
    const talked = (blame: 'agent' | 'user') => {
      const result = sampleResult({ id: 'talk', query: 'Hi', correctness: 'fail' });
      const [check] = result.correctness.checks;
      const own = {
        ...check!,
        id: 'correctness.turn[2].expected_in_answer',
        message: 'turn 2: found 0 of 1 expected term',
      };
      const turn = {
        user: long,
        answer: `Sure.\n- ${long}`,
        tools: [long, 'refund'],
        latency_ms: 1,
        checks: [],
      };
      return sampleRun([
        {
          ...result,
          correctness: { ...result.correctness, checks: [own] },
          conversation: {
            ending: 'user_done',
            blame,
            turns: [
              { ...turn, turn: 1, status: 'skip' },
              { ...turn, turn: 2, answer: null, status: 'fail', checks: [own.id] },
            ],
          },
        },
      ]);
    };

    test.each([
      { blame: 'agent' as const, words: 'to blame: the agent' },
      { blame: 'user' as const, words: 'to blame: the simulated user' },
    ])('has its turns, their tools and findings, and says $words', async ({ blame, words }) => {
      const { page, problems } = await open(talked(blame), { hash: '#/q/talk' });
      await page.waitForSelector('.turns');
      expect(await page.locator('.turns > li').count()).toBe(2);
      const second = page.locator('.turns > li').nth(1);
      expect(await second.locator('.called code').allTextContents()).toEqual([long, 'refund']);
      expect(await second.innerText()).toContain('no answer');
      expect(await second.innerText()).toContain('found 0 of 1 expected term');
      expect(await page.locator('main').innerText()).toContain(words);
      expect(problems).toEqual([]);
    });

    test.each([1280, 390])('fits a window of %i pixels', async (width) => {
      const { page } = await open(talked('agent'), { hash: '#/q/talk' });
      await page.setViewportSize({ width, height: 800 });
      await page.waitForSelector('.turns');
      const over = await page.evaluate(() => {
        const edge = document.documentElement.clientWidth;
        return [...document.querySelectorAll('.turns *')].filter(
          (each) => each.getBoundingClientRect().right > edge + 1,
        ).length;
      });
      expect(over).toBe(0);
    });
  });
});
