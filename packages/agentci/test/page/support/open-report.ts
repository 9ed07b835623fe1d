import type { ReportContext } from '@agentci/reporters';
import type { RunResult } from '@agentci/results';
import type { Browser, Page } from 'playwright-core';
import { freshPage } from './browser.ts';
import { sampleReport } from './sample-run.ts';
import { writeReport } from './write-report.ts';

export interface Opened {
  readonly page: Page;
  /** Errors reported by the browser. */
  readonly problems: string[];
  readonly requests: string[];
}

interface How {
  readonly hash?: string;
  readonly scheme?: 'light' | 'dark';
}

/** Writes the report of a run and opens the file. */
export async function openReport(
  browser: Browser,
  run: RunResult,
  { hash = '', scheme = 'light', ...rest }: Partial<ReportContext> & How = {},
): Promise<Opened> {
  const page = await freshPage(browser, { width: 1240, height: 860 }, scheme);
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`${writeReport(run, rest)}${hash}`);
  await page.waitForSelector('main > *');
  return { page, problems, requests };
}

/** Opens a run that covers all features. */
export const openSample = (browser: Browser, how: How = {}): Promise<Opened> => {
  const { run, ...rest } = sampleReport();
  return openReport(browser, run, { ...rest, ...how });
};

export const rowsOf = (page: Page) => page.locator('.row:not(.head)');
export const foundText = (page: Page) => page.locator('.found').textContent();
