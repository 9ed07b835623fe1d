// Creates one extension of each kind in a copy of the workspace, then runs the unit suite, the
// types and the generator: no other file may need a manual change.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MADE = [
  ['check', 'path/max-failed-calls'],
  ['metric', 'quality/politeness'],
  ['format', 'my-format'],
  ['reporter', 'teamcity'],
  ['rule', 'first_call'],
  ['command', 'agents'],
];
/**
 * Outside the unit project: the new command, the contracts of formats and reports, the entries of
 * checks.
 */
const MORE_TESTS = [
  'e2e/agents',
  'conformance/conformance',
  'reporter-contract',
  'report-formats',
  'test/codes',
];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dir = mkdtempSync(join(tmpdir(), 'agentci-scaffold-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

copyWorkspace();
for (const [kind, name] of MADE) {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/new.mjs', kind, name], {
    cwd: dir,
    encoding: 'utf8',
  });
  if (status !== 0) stop(`new ${kind} ${name}`, stderr);
}
const bin = (name) => join(dir, 'node_modules', '.bin', name);
await Promise.all([
  step('generated files', process.execPath, ['scripts/gen.mjs', '--check']),
  step('format and lint', bin('biome'), ['ci', '--colors=off', '--diagnostic-level=error']),
]);
await Promise.all([
  step('types', bin('tsc'), ['-p', '.']),
  step('unit tests', bin('vitest'), ['run', '--project', 'unit']),
]);
await step('contracts', bin('vitest'), ['run', ...MORE_TESTS]);

/** Copies the packages and links their dependencies. */
function copyWorkspace() {
  const isLeftOut = (path) => /[\\/](?:node_modules|dist|\.agentci|\.git)$/.test(path);
  for (const name of readdirSync(root))
    if (!isLeftOut(join(root, name)))
      cpSync(join(root, name), join(dir, name), {
        recursive: true,
        filter: (path) => !isLeftOut(path.slice(root.length)),
      });
  mkdirSync(join(dir, 'node_modules', '@agentci'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@agentci') link(join('node_modules', name));
  for (const name of readdirSync(join(dir, 'packages'))) {
    symlinkSync(join(dir, 'packages', name), join(dir, 'node_modules', '@agentci', name));
    link(join('packages', name, 'node_modules'));
    link(join('packages', name, 'dist'));
  }
}

function link(path) {
  if (existsSync(join(root, path))) symlinkSync(join(root, path), join(dir, path));
}

async function step(name, command, args) {
  const started = performance.now();
  const child = spawn(command, args, { cwd: dir, env: { ...process.env, NO_COLOR: '1' } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) stop(name, output);
  console.log(`ok   ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
}

function stop(name, output) {
  console.error(`FAIL ${name}\n${output}`);
  process.exit(1);
}
