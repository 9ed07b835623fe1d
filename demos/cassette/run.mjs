// Records an agent's model calls, replays them without the model and without a key, and shows the
// effect of a changed prompt. The model is scripted, so it needs no network: node
// demos/cassette/run.mjs
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

const cli = new URL('../../packages/agentci/dist/cli.mjs', import.meta.url).pathname;
const cwd = new URL('.', import.meta.url).pathname;
const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, CI: ___, ...plain } = process.env;

rmSync(new URL('.agentci/', import.meta.url), { recursive: true, force: true });
const model = new Worker(new URL('../capture/model.mjs', import.meta.url));
const url = await new Promise((resolve) => model.once('message', resolve));
say('Recorded once, with the model and a key:\n');
agentci('record', 0, { OPENAI_API_KEY: 'not-a-key', OPENAI_BASE_URL: `${url}/v1` });
await model.terminate();

say(
  'The model is gone and no key is set. The agent runs, its calls are answered from the files:\n',
);
agentci('replay', 0);
say(
  'Someone changes the prompt. The recording no longer fits, and nothing is green by accident:\n',
);
agentci('replay', 2, { PROMPT: 'prompt-friendly.txt' });
say(
  'Recorded again with a key (agentci cassette rerecord --only stale), the change is in the diff of demos/cassette/.agentci/cassettes.',
);

function agentci(mode, expected, env = {}) {
  const shown = Object.keys(env).filter((name) => name === 'PROMPT');
  say(`$ ${shown.map((name) => `${name}=${env[name]} `).join('')}agentci test --cassette ${mode}`);
  const { status } = spawnSync(process.execPath, [cli, 'test', '--cassette', mode], {
    cwd,
    stdio: 'inherit',
    env: { ...plain, ...env },
  });
  if (status !== expected) {
    say(
      `\nThe demo expected exit code ${expected} and got ${status}: something is wrong with this checkout.`,
    );
    process.exit(1);
  }
  say('');
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
