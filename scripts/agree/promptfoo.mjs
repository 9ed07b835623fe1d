// Compares `agentci convert` with promptfoo: both judge the same canned answers, and every
// assertion converted as exact must get the same verdict. promptfoo is large, so it is installed
// into a separate folder.
//   npm run agree:promptfoo            compare
//   npm run agree:promptfoo -- --write also write the verdicts for the converter's unit test
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pairs } from './promptfoo-pairs.mjs';

const VERSION = '0.121.20';
const root = join(import.meta.dirname, '..', '..');
const agentci = join(root, 'packages/agentci/bin/agentci.mjs');
const table = join(root, 'packages/testing/vectors/promptfoo-verdicts.json');

async function loadPromptfoo() {
  const dir = process.env.PROMPTFOO_DIR ?? join(tmpdir(), `agentci-agree-promptfoo-${VERSION}`);
  if (!existsSync(join(dir, 'node_modules/promptfoo'))) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'package.json'), '{}');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional'];
    execFileSync('npm', ['install', `promptfoo@${VERSION}`, ...flags], {
      cwd: dir,
      stdio: 'inherit',
    });
  }
  const entry = createRequire(join(dir, 'package.json')).resolve('promptfoo');
  return (await import(pathToFileURL(entry))).default;
}

process.env.PROMPTFOO_DISABLE_TELEMETRY = '1';
const promptfoo = await loadPromptfoo();
const all = pairs();
const theirs = new Map();
for (const { id, output, assert, threshold } of all) {
  try {
    const result = await promptfoo.assertions.runAssertions({
      test: { vars: {}, assert: structuredClone(assert), threshold },
      providerResponse: { output },
      latencyMs: 10,
    });
    theirs.set(id, result.pass);
  } catch (error) {
    theirs.set(id, `error: ${error.message}`);
  }
}

const work = mkdtempSync(join(tmpdir(), 'agentci-agree-'));
try {
  const config = {
    prompts: ['{{id}}'],
    providers: ['echo'],
    tests: all.map(({ id, output, assert, threshold }) => ({
      description: id,
      vars: { id },
      providerOutput: output,
      assert,
      ...(threshold === undefined ? {} : { threshold }),
    })),
  };
  writeFileSync(join(work, 'promptfooconfig.json'), JSON.stringify(config));
  const run = (args) =>
    spawnSync(process.execPath, [agentci, ...args], {
      cwd: work,
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
  const converted = run(['convert', 'promptfooconfig.json', '--json']);
  if (converted.status !== 0 && converted.status !== 1) throw new Error(converted.stderr);
  const report = JSON.parse(converted.stdout);
  const tested = run(['test', '--format', 'json']);
  const ours = new Map(JSON.parse(tested.stdout).results.map(({ id, status }) => [id, status]));
  let exact = 0;
  const differ = [];
  for (const { id, output, assert, threshold } of all) {
    const status = ours.get(id);
    if (status === 'skip') continue;
    exact++;
    const same = theirs.get(id) === (status === 'pass' || status === 'warn') && status !== 'error';
    if (!same) differ.push({ id, status, promptfoo: theirs.get(id), output, assert, threshold });
  }
  for (const one of differ.slice(0, 20)) console.log(JSON.stringify(one));
  console.log(
    `promptfoo ${VERSION}: ${all.length} pairs, ${exact} carried as exact, ${exact - differ.length} agree, ${differ.length} differ`,
  );
  console.log(`assertions: ${JSON.stringify(report.counts)}`);
  if (process.argv.includes('--write')) {
    const lines = all
      .filter((_, i) => i % 5 === 0)
      .map(({ id, output, assert, threshold }) =>
        JSON.stringify({
          id,
          output,
          assert,
          ...(threshold === undefined ? {} : { threshold }),
          promptfoo: theirs.get(id),
        }),
      );
    writeFileSync(table, `[\n${lines.join(',\n')}\n]\n`);
    console.log(`wrote ${table}: ${readFileSync(table).length} bytes`);
  }
  process.exitCode = differ.length === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
