// Counts the source files executed in a run (those with a called function), and the edges between
// packages and between folders: node scripts/files-executed.mjs [--list] Measured on a build
// without minification, whose comments name the source file of each part of a chunk.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const RUNS = [
  ['test --traces, three recorded queries', 'demos/quickstart', ['--traces', 'traces.jsonl']],
  ['test, one captured query', 'demos/capture', ['-c', 'agentci_spec.shell.yaml']],
];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'agentci-files-'));
const dist = join(folder, 'dist');
build();
const model = new Worker(join(root, 'demos/capture/model.mjs'));
const modelUrl = await new Promise((resolve) => model.once('message', resolve));
for (const [name, demo, flags] of RUNS) {
  const files = await filesExecuted(join(root, demo), ['test', ...flags, '--quiet']);
  process.stdout.write(`${name}: ${files.length} files\n`);
  if (process.argv.includes('--list')) process.stdout.write(`${files.join('\n')}\n`);
}
await model.terminate();
rmSync(folder, { recursive: true });
process.stdout.write(`edges between packages: ${packageEdges()}\n`);
for (const name of ['agentci', 'run'])
  process.stdout.write(`edges between rooms of ${name}: ${roomEdges(name)}\n`);

/** The imports of the source files under a folder, as [file, specifier], without tests. */
function importsUnder(dir) {
  const names = existsSync(dir) ? readdirSync(dir, { recursive: true }) : [];
  return names
    .map((name) => join(dir, name))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, from]) => [
        file,
        from,
      ]),
    );
}

function packageEdges() {
  const edges = readdirSync(join(root, 'packages')).flatMap((name) =>
    importsUnder(join(root, 'packages', name, 'src'))
      .map(([, from]) => /^@agentci\/([^/]+)/.exec(from)?.[1])
      .filter((to) => to !== undefined && to !== name)
      .map((to) => `${name} ${to}`),
  );
  return new Set(edges).size;
}

function roomEdges(name) {
  const src = join(root, 'packages', name, 'src');
  const roomOf = (file) => relative(src, file).split('/').slice(0, -1)[0];
  const edges = importsUnder(src)
    .filter(([, from]) => from.startsWith('.'))
    .map(([file, from]) => [roomOf(file), roomOf(join(dirname(file), from))])
    .filter(([from, to]) => from !== undefined && to !== undefined && from !== to);
  return new Set(edges.map(String)).size;
}

function build() {
  const cwd = join(root, 'packages/agentci');
  const tsdown = join(root, 'node_modules/.bin/tsdown');
  const { status, stderr } = spawnSync(tsdown, ['--out-dir', dist, '--no-minify'], {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  // Copied, not built.
  for (const name of readdirSync(join(cwd, 'dist')))
    if (name.endsWith('.cjs') || name === 'path' || name === 'schema')
      cpSync(join(cwd, 'dist', name), join(dist, name), { recursive: true });
}

async function filesExecuted(cwd, command) {
  const coverage = join(folder, 'coverage');
  const child = spawn(process.execPath, [join(dist, 'cli.mjs'), ...command], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_V8_COVERAGE: coverage,
      ANTHROPIC_API_KEY: 'not-a-key',
      ANTHROPIC_BASE_URL: modelUrl,
    },
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  const scripts = readdirSync(coverage).flatMap(
    (file) => JSON.parse(readFileSync(join(coverage, file), 'utf8')).result,
  );
  rmSync(coverage, { recursive: true });
  if (code > 1) throw new Error(`agentci ${command.join(' ')} exited with ${code}`);
  const files = scripts
    .filter(({ url }) => url.includes('/agentci-files-'))
    .flatMap(({ url, functions }) => sourcesCalled(basename(url), functions));
  return [...new Set(files)].sort();
}

function sourcesCalled(chunk, functions) {
  const text = readFileSync(join(dist, chunk), 'utf8');
  const regions = [...text.matchAll(/^\/\/#region (\S+)$/gm)];
  const sourceAt = (offset) => regions.findLast(({ index }) => index < offset)?.[1];
  return functions
    .filter(isCalled)
    .map(({ ranges }) => sourceAt(ranges[0].startOffset))
    .filter((source) => source !== undefined && !source.includes('node_modules'));
}

/** The module itself is an anonymous function at offset 0. */
function isCalled({ functionName, ranges: [{ startOffset, count }] }) {
  return count > 0 && !(functionName === '' && startOffset === 0);
}
