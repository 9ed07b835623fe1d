// Counts the source files on the path of a run, that is, those with a function that is called: `test --traces` on three
// recorded queries and `test` on one captured query. node scripts/files-executed.mjs [--list]
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const model = new Worker(join(root, 'demos/capture/model.mjs'));
const modelUrl = await new Promise((resolve) => model.once('message', resolve));

const runs = [
  ['three recorded queries', 'demos/quickstart', ['--traces', 'traces.jsonl']],
  ['one captured query', 'demos/capture', ['-c', 'agentci_spec.shell.yaml']],
];
for (const [name, demo, flags] of runs) {
  const files = await filesExecuted(join(root, demo), ['test', ...flags, '--quiet']);
  process.stdout.write(`${name}: ${files.length} files\n`);
  if (process.argv.includes('--list')) process.stdout.write(`${files.join('\n')}\n`);
}
await model.terminate();

async function filesExecuted(cwd, command) {
  const folder = mkdtempSync(join(tmpdir(), 'agentci-files-'));
  const loader = join(root, 'scripts/source-loader.mjs');
  const cli = join(root, 'packages/agentci/src/cli/bin.ts');
  const child = spawn(process.execPath, ['--import', loader, cli, ...command], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_V8_COVERAGE: folder,
      ANTHROPIC_API_KEY: 'not-a-key',
      ANTHROPIC_BASE_URL: modelUrl,
    },
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  const scripts = readdirSync(folder).flatMap(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).result,
  );
  rmSync(folder, { recursive: true });
  if (code > 1) throw new Error(`agentci ${command.join(' ')} exited with ${code}`);
  const called = scripts.filter(({ functions }) => functions.some(isCalled));
  const packages = `${pathToFileURL(root)}/packages/`;
  return [...new Set(called.map(({ url }) => url))]
    .filter((url) => url.startsWith(packages) && url.includes('/src/'))
    .map((url) => url.slice(packages.length))
    .sort();
}

/** The module itself is a function without a name that starts at 0. */
function isCalled({ functionName, ranges: [{ startOffset, count }] }) {
  return count > 0 && !(functionName === '' && startOffset === 0);
}
