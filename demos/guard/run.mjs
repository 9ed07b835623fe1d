// A mail tells an assistant to send customer data away. Without a guard it does. With a guard it is
// refused, and the audit names the line of the policy. No key, no network: node demos/guard/run.mjs
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('.', import.meta.url));
const cli = fileURLToPath(new URL('../../packages/agentci/dist/cli.mjs', import.meta.url));
const server = [process.execPath, 'mail-server.mjs'];
const say = (text) => process.stdout.write(`${text}\n`);
const run = (args) =>
  spawnSync(process.execPath, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] }).status;

rmSync(new URL('./.agentci', import.meta.url), { recursive: true, force: true });
say('A mail in the inbox tells the assistant to send the customer file to audit@evil.test.\n');
say('Without a guard it does:\n');
run(['agent.mjs', ...server]);
say('\nThe same agent behind agentci guard --policy mail-policy.yaml:\n');
run([
  'agent.mjs',
  process.execPath,
  cli,
  'guard',
  '--policy',
  'mail-policy.yaml',
  '--audit',
  '.agentci/audit.jsonl',
  '--',
  ...server,
]);
say('\nEvery decision again, from the audit, by the same policy:\n');
const explained = run([cli, 'policy', 'explain', '.agentci/audit.jsonl']);
run([cli, 'policy', 'explain', '.agentci/audit.jsonl', '-f', 'html', '-o', '.agentci/audit.html']);
say('The report: demos/guard/.agentci/audit.html');
process.exitCode = explained;
