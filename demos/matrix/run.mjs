// Compares two models and two prompts on the same questions. The models are scripted, so it needs no key and no network:
// node demos/matrix/run.mjs [what agentci test takes]
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';

const root = new URL('../../', import.meta.url);
const cli = new URL('packages/agentci/dist/cli.mjs', root).pathname;
const model = new Worker(new URL('./model.mjs', import.meta.url));
const url = await new Promise((resolve) => model.once('message', resolve));

const { status } = spawnSync(process.execPath, [cli, 'test', ...process.argv.slice(2)], {
  cwd: new URL('.', import.meta.url).pathname,
  stdio: 'inherit',
  env: { ...process.env, OPENAI_API_KEY: 'not-a-key', OPENAI_BASE_URL: url },
});
await model.terminate();
process.exitCode = status ?? 2;
