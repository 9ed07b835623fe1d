// Releases AgentCI: version, changelog, commit, tags, npm with provenance, GitHub release.
//   node scripts/release.mjs minor --dry-run     prints all steps and changes nothing
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  commands,
  cutChangelog,
  lockWithVersion,
  nextVersion,
  withVersion,
} from './release/plan.mjs';

const PACKAGE = 'packages/agentci';
const args = process.argv.slice(2);
const isDry = args.includes('--dry-run');
const [asked, ...more] = args.filter((arg) => arg !== '--dry-run');

try {
  if (asked === undefined || more.length > 0)
    throw new Error('usage: node scripts/release.mjs <major|minor|patch|1.2.3> [--dry-run]');
  release(asked);
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exit(1);
}

function release(asked) {
  const current = JSON.parse(readFileSync(`${PACKAGE}/package.json`, 'utf8')).version;
  const version = nextVersion(current, asked);
  const date = new Date().toISOString().slice(0, 10);
  const { notes, text: changelog } = cutChangelog(readFileSync('CHANGELOG.md', 'utf8'), {
    version,
    date,
  });
  refuse(version);
  const edits = {
    'CHANGELOG.md': changelog,
    [`${PACKAGE}/package.json`]: withVersion(
      readFileSync(`${PACKAGE}/package.json`, 'utf8'),
      current,
      version,
    ),
    'package-lock.json': lockWithVersion(
      readFileSync('package-lock.json', 'utf8'),
      PACKAGE,
      version,
    ),
  };
  console.log(`${current} → ${version} (${date})\n`);
  console.log(`${notes}\n`);
  for (const [path, text] of Object.entries(edits)) {
    console.log(`write ${path}`);
    if (!isDry) writeFileSync(path, text);
  }
  const branch = output('git', ['branch', '--show-current']) || 'main';
  for (const [program, ...rest] of commands({ version, branch })) {
    console.log(`run   ${[program, ...rest].map(quoted).join(' ')}`);
    if (!isDry) run(program, rest, notes);
  }
  if (isDry) console.log('\nnothing was changed: --dry-run');
}

/** Checks before an irreversible release. */
function refuse(version) {
  const isTagged = output('git', ['tag', '--list', `v${version}`]) !== '';
  if (isTagged) throw new Error(`the tag v${version} exists already`);
  const changed = output('git', ['status', '--porcelain', '--untracked-files=no']);
  if (changed !== '' && !isDry) throw new Error(`commit or put away first:\n${changed}`);
  if (!existsSync('package-lock.json')) throw new Error('run it from the root of the repository');
}

function output(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
  return stdout.trim();
}

function run(program, args, input) {
  const { status, error } = spawnSync(program, args, {
    input,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  if (status !== 0)
    throw new Error(
      `${program} ${args.join(' ')} failed${error ? `: ${error.message}` : ` (exit ${status})`}`,
    );
}

function quoted(word) {
  return /^[\w@:/.=-]+$/.test(word) ? word : `'${word}'`;
}
