// Prepares a fresh clone: `deps` installs packages and builds the report page, which the sources
// import. `build` also builds the program. Skips steps that are up to date, so `npm test` and `npm
// run demo` work as the first command and cost nothing afterwards.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const want = process.argv[2];

const major = Number(process.versions.node.split('.')[0]);
if (major < 20) fail(`Node ${process.versions.node} is too old: AgentCI needs 20.19 or newer.`);

/** Folders that a build does not read, or writes itself. */
const NOT_SOURCES = new Set([
  'node_modules',
  'dist',
  'test',
  'testing',
  'README.md',
  'THIRD_PARTY_NOTICES',
]);

ensureDeps();
ensurePage();
if (want === 'build') ensureBuild();

function ensureDeps() {
  const stamp = join(root, 'node_modules', '.agentci-deps');
  const hash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  say('installing packages (once; about half a minute)');
  // install, not ci: a lock file from one platform may lack the optional binaries of another.
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, hash);
}

function ensurePage() {
  const pages = [
    join('reporters', 'src', 'html', 'page.gen.ts'),
    join('agentci', 'src', 'label', 'label-page.gen.ts'),
  ].map((name) => join(root, 'packages', name));
  const shared = [
    'run/src/baseline',
    'results/src',
    'lib/src/numbers',
    'lib/src/text',
    'reporters/src/pass-hat-k.ts',
    'reporters/src/failure-lines.ts',
  ].map((name) => join(root, 'packages', name));
  const parts = [join(root, 'packages', 'report-ui'), ...shared];
  const newest = Math.max(...parts.flatMap((part) => [...sources(part)]));
  if (pages.every((page) => existsSync(page) && statSync(page).mtimeMs >= newest)) return;
  say('building the report page');
  run(process.execPath, [join(root, 'packages', 'report-ui', 'build.mjs')]);
}

function ensureBuild() {
  const packages = join(root, 'packages');
  const out = join(packages, 'agentci', 'dist', 'cli.mjs');
  const newest = Math.max(...sources(packages));
  if (existsSync(out) && statSync(out).mtimeMs >= newest) return;
  say('building');
  run('npm', ['run', 'build', '--silent', '-w', '@agentci/agentci']);
}

function* sources(dir) {
  if (statSync(dir).isFile()) {
    yield statSync(dir).mtimeMs;
    return;
  }
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (NOT_SOURCES.has(entry.name) || entry.name.endsWith('.test.ts')) continue;
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else yield statSync(path).mtimeMs;
  }
}

/** Prints the output of a step only if it fails. */
function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    // The tests' model runtime includes its CPU libraries. The skipped download is for GPUs.
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
  fail(`${command} ${args.join(' ')} failed (exit ${status})`);
}

function say(text) {
  process.stderr.write(`agentci: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
