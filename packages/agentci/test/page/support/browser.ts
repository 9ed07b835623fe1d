import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const INSTALL_MS = 240_000;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/**
 * The system's Chromium, installed by the package manager if possible. Otherwise the reason why it
 * is missing.
 */
export function findChromium(): { path: string } | { missing: string } {
  const given = process.env.AGENTCI_TEST_CHROMIUM;
  const found = [...(given ? [given] : []), ...PLACES].find((path) => existsSync(path));
  if (found) return { path: found };
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return {
      missing: 'there is no Chromium here, and it can only be installed as root with apt-get',
    };
  const apt = (args: string[]) =>
    spawnSync('apt-get', args, {
      timeout: INSTALL_MS,
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  apt(['update', '-qq']);
  apt(['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-liberation']);
  return existsSync(PLACES[0]!)
    ? { path: PLACES[0]! }
    : { missing: 'apt-get could not install chromium' };
}

export const launch = (path: string): Promise<Browser> =>
  chromium.launch({ executablePath: path, args: FLAGS });

const pages = new WeakMap<Browser, Page>();

/**
 * Returns a clean page for one test. Creating a page takes half a second, so the tests of a file
 * share one in turn. State is cleared between tests. A page that cannot be cleared is closed.
 */
export async function freshPage(
  browser: Browser,
  viewport: { width: number; height: number },
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  const page = pages.get(browser) ?? (await browser.newPage());
  pages.delete(browser);
  onTestFinished(async () => {
    if (await isCleared(page)) pages.set(browser, page);
    else await page.close();
  });
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme });
  page.setDefaultTimeout(15_000);
  return page;
}

async function isCleared(page: Page): Promise<boolean> {
  page.removeAllListeners();
  try {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().clearPermissions();
    await page.evaluate(() => localStorage.clear());
    await page.goto('about:blank');
    return true;
  } catch {
    return false;
  }
}
