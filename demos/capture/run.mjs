// Checks two agents that only print their answers, one in Python and one in shell, in all three
// layers. Their model is scripted, so it needs no key and no network: node demos/capture/run.mjs
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';

const root = new URL('../../', import.meta.url);
const cli = new URL('packages/agentci/dist/cli.mjs', root).pathname;
const cwd = new URL('.', import.meta.url).pathname;
const model = new Worker(new URL('./model.mjs', import.meta.url));
const url = await new Promise((resolve) => model.once('message', resolve));

let worst = 0;
for (const spec of ['agentci_spec.python.yaml', 'agentci_spec.shell.yaml']) {
  const { status } = spawnSync(
    process.execPath,
    [cli, 'test', '-c', spec, ...process.argv.slice(2)],
    {
      cwd,
      stdio: 'inherit',
      env: {
        ...process.env,
        OPENAI_API_KEY: 'not-a-key',
        OPENAI_BASE_URL: `${url}/v1`,
        ANTHROPIC_API_KEY: 'not-a-key',
        ANTHROPIC_BASE_URL: url,
      },
    },
  );
  worst = Math.max(worst, status ?? 2);
}
await model.terminate();
process.exitCode = worst;
