// Regenerates the screenshots of the reports in docs/screenshots, from the demo in demos/rag and a
// headless Chromium. Needs no key and no network, except to install a missing Chromium through apt.
//   node scripts/screenshots.mjs
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const demo = join(root, 'demos', 'rag');
const pictures = join(root, 'docs', 'screenshots');
const agentci = join(root, 'packages', 'agentci', 'bin', 'agentci.mjs');
const dir = mkdtempSync(join(tmpdir(), 'agentci-screenshots-'));

try {
  const browser = findBrowser();
  const report = join(dir, 'report.html');
  // A failing and a passing run, so that lists and trends have content.
  run(process.execPath, [agentci, 'test', '-t', 'story', '--judge', 'recorded', '--quiet'], {
    fails: false,
  });
  run(
    process.execPath,
    [agentci, 'test', '-t', 'story', '--judge', 'recorded', '--quiet', '-o', report],
    {
      fails: true,
      env: { RAG_PROMPT: 'v1-broken' },
    },
  );
  const page = pathToFileURL(report).href;
  shoot(browser, `${page}#/`, 'report-queries.png', '1280,720');
  shoot(browser, `${page}#/q/load-balancer`, 'report-query.png', '1280,1400');
  const { url, stop } = await view();
  shoot(browser, `${url}#/runs`, 'view-runs.png', '1280,720');
  stop();
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function findBrowser() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const found = () => names.find((name) => spawnSync(name, ['--version']).status === 0);
  if (found() === undefined)
    spawnSync('apt-get', ['install', '--yes', 'chromium'], { stdio: 'inherit' });
  const name = found();
  if (name === undefined) throw new Error(`none of ${names.join(', ')} is installed`);
  return name;
}

function run(program, args, { fails, env = {} }) {
  const { status, stderr } = spawnSync(program, args, {
    cwd: demo,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (status !== (fails ? 1 : 0))
    throw new Error(`${args.slice(1).join(' ')} gave ${status}:\n${stderr}`);
}

/** The page is rendered by its script, so virtual time runs until it is idle. */
function shoot(browser, url, name, size) {
  const file = join(pictures, name);
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--force-device-scale-factor=1',
  ];
  const profile = `--user-data-dir=${join(dir, 'profile')}`;
  const { status, stderr } = spawnSync(
    browser,
    [
      ...flags,
      profile,
      `--window-size=${size}`,
      '--virtual-time-budget=8000',
      `--screenshot=${file}`,
      url,
    ],
    { encoding: 'utf8', timeout: 60_000 },
  );
  if (status !== 0) throw new Error(`${browser} gave ${status}:\n${stderr}`);
  console.log(`wrote docs/screenshots/${name} (${Math.round(statSync(file).size / 1024)} KB)`);
}

async function view() {
  const child = spawn(process.execPath, [agentci, 'view'], { cwd: demo });
  const url = await new Promise((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data).trim())),
  );
  return { url, stop: () => child.kill('SIGINT') };
}
