// Runs a demo's spec: node demos/run.mjs rag [--live] [options of agentci test] Without --live the
// model is scripted and the judge's verdicts are stored, so it needs no key and no network. With
// --live the agent and the judge call OpenAI. This needs OPENAI_API_KEY and costs a little.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [name = '', ...rest] = process.argv.slice(2);
const cwd = join(here, name);
const spec = join(cwd, 'agentci_spec.yaml');
const isLive = rest.includes('--live');
const args = rest.filter((arg) => arg !== '--live');

if (name === '' || !existsSync(spec))
  fail('usage: node demos/run.mjs DEMO [--live] [options of agentci test]');
if (isLive && !process.env.OPENAI_API_KEY) fail('--live asks a real model: set OPENAI_API_KEY');

// A scripted model answers immediately, so a second worker would only load the agent's SDK again.
const workers =
  isLive || args.some((arg) => /^(-w|-j|--workers)/.test(arg)) || name === 'dev-agent'
    ? []
    : ['-w', '1'];
const flags = isLive ? ['-c', liveSpec(), '--judge', 'live'] : ['--judge', 'recorded'];
const { status } = spawnSync(
  process.execPath,
  [
    join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs'),
    'test',
    ...flags,
    ...workers,
    ...args,
  ],
  { cwd, stdio: 'inherit', env: { ...process.env, ...(isLive ? { DEMO_LIVE: '1' } : {}) } },
);
process.exit(status ?? 2);

/** The same spec with a real judge, because the scripted one has no verdicts on new answers. */
function liveSpec() {
  const file = 'agentci_spec.live.yaml';
  writeFileSync(
    join(cwd, file),
    readFileSync(spec, 'utf8').replace('judge-scripted.yaml', 'judge-live.yaml'),
  );
  return file;
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
