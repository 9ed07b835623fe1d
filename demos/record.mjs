// Regenerates a demo's baselines and stored verdicts by running it: node demos/record.mjs rag The
// verdicts come from the demo's judge-script.mjs behind a scripted model, not from a real one.
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';

const JUDGE_PORT = 8089;
const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const cwd = join(here, process.argv[2] ?? '');
const script = join(cwd, 'judge-script.mjs');
if (process.argv[2] === undefined || !existsSync(script)) {
  process.stderr.write('usage: node demos/record.mjs DEMO, one that has a judge-script.mjs\n');
  process.exit(2);
}

const { opinion, variants, baselines } = await import(pathToFileURL(script).href);
const { startScriptedModel } = await createJiti(import.meta.url).import(
  '../packages/scripted-model/src/index.ts',
);
const judge = await startScriptedModel({
  port: JUDGE_PORT,
  script: ({ system, messages }) => {
    const [score, rationale] = opinion([system, ...messages.map(({ text }) => text)].join('\n'));
    return { text: JSON.stringify({ rationale, score, label: score >= 3 ? 'pass' : 'fail' }) };
  },
});
// The precheck of a baseline uses the judge too.
for (const { version, env, force = false } of baselines) {
  const flags = ['--overwrite', ...(force ? ['--force-save'] : [])];
  await agentci(['record', '--version', version, ...flags], env);
}
rmSync(join(cwd, '.agentci', 'judge-cache'), { recursive: true, force: true });
for (const env of variants) await agentci(['test', '--judge', 'live', '--quiet'], env);
await judge.close();

function agentci(args, env) {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...process.env, JUDGE_API_KEY: 'scripted', ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.on('close', resolve));
}
