// The action's main step: runs agentci with all reports for a pull request, and passes on the files
// and the verdict. It never fails the job. The last step does, after reports and comment.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { findAgentci, folderProblem, fromRoot, folder as project } from './project.mjs';
import { splitWords } from './words.mjs';

const { env } = process;
const folder = 'agentci-results';
const files = {
  json: 'results.json',
  sarif: 'results.sarif',
  junit: 'results.xml',
  markdown: 'summary.md',
  html: 'report.html',
};

const failOn = env.INPUT_FAIL_ON || 'fail';
const problem =
  folderProblem() ??
  (['fail', 'warn', 'never'].includes(failOn)
    ? undefined
    : `fail-on must be fail, warn or never, not ${JSON.stringify(failOn)}`) ??
  (!env.INPUT_SHARD || /^\d+\/\d+$/.test(env.INPUT_SHARD)
    ? undefined
    : `shard must be like 2/8, not ${JSON.stringify(env.INPUT_SHARD)}`) ??
  (env.INPUT_SHARD && env.INPUT_MERGE === 'true'
    ? 'shard and merge exclude each other'
    : undefined);
const words = problem === undefined ? splitWords(env.INPUT_ARGS ?? '') : [];
if (problem !== undefined || words === undefined) {
  console.log(`::error title=AgentCI::${problem ?? 'args has a quote that is not closed'}`);
  output({ verdict: '2' });
  process.exit(0);
}
process.chdir(project);
// An earlier step of the same job may have left reports, which must not count for this run.
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const spec = env.INPUT_SPEC || 'agentci_spec.yaml';
const isMerge = env.INPUT_MERGE === 'true';
const args = isMerge
  ? ['merge', 'agentci-shards', '-c', spec, '-f', 'console']
  : ['test', '-c', spec, '-f', 'console'];
for (const [format, name] of Object.entries(files))
  args.push('-f', `${format}=${join(folder, name)}`);
for (const format of (env.INPUT_FORMATS ?? '').split(/\s+/).filter(Boolean))
  args.push('-f', format);
// A merge uses the settings of its shards.
for (const [flag, value] of isMerge
  ? []
  : [
      ['--shard', env.INPUT_SHARD],
      ['--traces', env.INPUT_TRACES],
      ['--baseline', env.INPUT_BASELINE],
      ['--judge', env.INPUT_JUDGE],
      ['--tags', env.INPUT_TAGS],
    ]) {
  if (value) args.push(flag, value);
}
// The timings from an earlier merge, the same for all shards of this run.
if (env.INPUT_SHARD && env.AGENTCI_TIMINGS && existsSync(env.AGENTCI_TIMINGS))
  args.push('--weights', env.AGENTCI_TIMINGS);
if (failOn === 'warn' && !isMerge) args.push('--strict');
if (!isMerge) args.push(...words);

const { status, error } = spawnSync(env.AGENTCI_BIN || findAgentci() || 'agentci', args, {
  stdio: 'inherit',
});
if (error) console.log(`::error title=AgentCI::agentci could not be started: ${error.message}`);
const timings = join(dirname(spec), '.agentci', 'timings.json');
// For shards of later runs.
if (isMerge && existsSync(timings)) copyFileSync(timings, join(folder, 'timings.json'));
const summary = join(folder, files.markdown);
const hasResults = existsSync(join(folder, files.json));
compareWithBase();
if (!hasResults && status === 0)
  console.log(
    '::error title=AgentCI::agentci test made no results: look at the args of the action',
  );
// A verdict needs results: an argument such as `--help` exits with 0 and checks
// nothing.
const code = hasResults ? (status ?? 2) : status || 2;
// Otherwise, the comment of an earlier run would keep an outdated verdict.
if (!existsSync(summary))
  writeFileSync(
    summary,
    `<!-- agentci:not-run:${spec.replaceAll('--', '- -')} -->\n## ❌ AgentCI could not run (exit ${code})\n\nThe log of the job says why.\n`,
  );
if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, readFileSync(summary));

const made = (name) => (existsSync(join(folder, name)) ? fromRoot(join(folder, name)) : '');
output({
  'exit-code': String(code),
  verdict: failOn === 'never' ? '0' : String(code),
  folder: fromRoot(folder),
  results: made(files.json),
  report: made(files.html),
  sarif: made(files.sarif),
  summary: made(files.markdown),
  suffix: env.INPUT_SHARD ? `-${env.INPUT_SHARD.replace('/', '-of-')}` : '',
  runs: env.INPUT_SHARD ? madeFolder(join(dirname(spec), '.agentci', 'runs')) : '',
});

/**
 * Writes summary and page again with the changes. If the base is unreadable, the first versions
 * stay.
 */
function compareWithBase() {
  const base = env.INPUT_BASE || env.AGENTCI_BASE;
  if (!hasResults || !base) return;
  if (!existsSync(base)) {
    if (env.INPUT_BASE)
      console.log(`::warning title=AgentCI::base: no file ${JSON.stringify(base)}`);
    return;
  }
  const report = ['report', '-c', spec, '-i', join(folder, files.json), '--before', base];
  for (const format of ['markdown', 'html'])
    report.push('-f', `${format}=${join(folder, files[format])}`);
  if (env.INPUT_TRACES) report.push('--traces', env.INPUT_TRACES);
  const made = spawnSync(env.AGENTCI_BIN || findAgentci() || 'agentci', report, {
    stdio: 'inherit',
  });
  if (made.status !== 0)
    console.log('::warning title=AgentCI::the comparison with the base could not be made');
}

/** A folder relative to the root of the checkout, if it exists. */
function madeFolder(path) {
  return existsSync(path) ? fromRoot(path) : '';
}

function output(values) {
  // A random delimiter, so that no value can end its output and start another.
  const end = `end-${randomUUID()}`;
  const lines = Object.entries(values).map(
    ([name, value]) => `${name}<<${end}\n${value}\n${end}\n`,
  );
  if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, lines.join(''));
}
