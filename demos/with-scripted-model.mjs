// Runs the spec of a demo's folder against its scripted model. Needs no key and no network.
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';

const cli = new URL('../packages/agentci/dist/cli.mjs', import.meta.url).pathname;

/**
 * `here` is the `import.meta.url` of the demo. Further command line arguments are passed to
 * `agentci test`.
 */
export async function testWithScriptedModel(here) {
  const model = new Worker(new URL('./model.mjs', here));
  const url = await new Promise((resolve) => model.once('message', resolve));
  const { status } = spawnSync(process.execPath, [cli, 'test', ...process.argv.slice(2)], {
    cwd: new URL('.', here).pathname,
    stdio: 'inherit',
    env: { ...process.env, OPENAI_API_KEY: 'not-a-key', OPENAI_BASE_URL: url },
  });
  await model.terminate();
  process.exitCode = status ?? 2;
}
