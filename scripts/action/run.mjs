// The action's main step: runs agentci with every report a pull request can use, and hands the files and the verdict on.
// It never fails the job by itself; the last step does, after reports and comment are out.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const { env } = process;
const folder = 'agentci-results';
const files = { results: 'results.json', sarif: 'results.sarif', junit: 'results.xml', summary: 'summary.md' };
mkdirSync(folder, { recursive: true });

const failOn = env.INPUT_FAIL_ON || 'fail';
if (!['fail', 'warn', 'never'].includes(failOn)) {
  console.log(`::error title=AgentCI::fail-on must be fail, warn or never, not ${JSON.stringify(failOn)}`);
  output({ verdict: '2' });
  process.exit(0);
}

const args = ['test', '-c', env.INPUT_SPEC || 'agentci_spec.yaml', '-f', 'console'];
for (const [format, name] of [
  ['json', files.results],
  ['sarif', files.sarif],
  ['junit', files.junit],
  ['markdown', files.summary],
]) {
  args.push('-f', `${format}=${join(folder, name)}`);
}
for (const format of (env.INPUT_FORMATS ?? '').split(/\s+/).filter(Boolean)) args.push('-f', format);
if (env.INPUT_TRACES) args.push('--traces', env.INPUT_TRACES);
if (env.INPUT_BASELINE) args.push('--baseline', env.INPUT_BASELINE);
if (failOn === 'warn') args.push('--strict');

const { status } = spawnSync(env.AGENTCI_BIN || join('node_modules', '.bin', 'agentci'), args, { stdio: 'inherit' });
const code = status ?? 2;
const summary = join(folder, files.summary);
if (existsSync(summary) && env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, readFileSync(summary));

const made = (name) => (existsSync(join(folder, name)) ? join(folder, name) : '');
output({
  'exit-code': String(code),
  verdict: failOn === 'never' ? '0' : String(code),
  folder,
  results: made(files.results),
  sarif: made(files.sarif),
  summary: made(files.summary),
});

function output(values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, lines.join(''));
}
