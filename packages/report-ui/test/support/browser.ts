import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

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

/** The system's Chromium; installed by the package manager where that is possible. Otherwise why there is none. */
export function findChromium(): { path: string } | { missing: string } {
  const given = process.env.AGENTCI_TEST_CHROMIUM;
  const found = [...(given ? [given] : []), ...PLACES].find((path) => existsSync(path));
  if (found) return { path: found };
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return { missing: 'there is no Chromium here, and it can only be installed as root with apt-get' };
  const apt = (args: string[]) =>
    spawnSync('apt-get', args, {
      timeout: INSTALL_MS,
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  apt(['update', '-qq']);
  apt(['install', '-y', '-qq', '--no-install-recommends', 'chromium']);
  return existsSync(PLACES[0]!) ? { path: PLACES[0]! } : { missing: 'apt-get could not install chromium' };
}

export const launch = (path: string): Promise<Browser> => chromium.launch({ executablePath: path, args: FLAGS });
