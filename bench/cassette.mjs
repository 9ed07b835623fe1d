// Cost of replay: one call answered from a cassette, and a suite of agents compared with the same
// agents and canned answers.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const here = join(fileURLToPath(import.meta.url), '..');
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const BODY = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'x'.repeat(8000) }],
});

/** Calls the model four times, each time with the full history. */
const AGENT = `
export default async function agent(query) {
  const messages = [{ role: 'system', content: 'You are terse.' }, { role: 'user', content: query }];
  for (let i = 0; i < 4; i++) {
    const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
    });
    const { choices } = await reply.json();
    messages.push(choices[0].message, { role: 'user', content: 'go on' });
  }
  return messages.at(-2).content;
}
`;

export async function measureCassettes({ quick = false } = {}) {
  const perCall = await oneExchange(quick ? 200 : 2000);
  const queries = quick ? 100 : 1000;
  const { canned, replayed } = await suites(queries, quick ? 1 : 3);
  const ratio = replayed.cpu / canned.cpu;
  // Wall time, meaningful only on an idle machine.
  const waited = replayed.wall / canned.wall;
  return [
    row(
      'cassette: one replayed exchange, 8 KB request',
      `${perCall.toFixed(2)} ms median`,
      '≤ 1 ms',
      perCall <= 1,
    ),
    row(
      `cassette: ${queries} queries × 4 calls in replay`,
      `${ratio.toFixed(2)} × of canned answers by CPU (${seconds(replayed.cpu)}), ${waited.toFixed(2)} × by the clock (${seconds(replayed.wall)})`,
      '≤ 1.5 × by both',
      ratio <= 1.5 && waited <= 1.5,
    ),
  ];
}

const row = (work, measured, bound, ok) => ({ work, measured, bound, ok });
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

async function oneExchange(calls) {
  const child = spawn(process.execPath, [join(here, 'cassette-part.mjs'), BODY], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const url = `${String(line).trim()}/chat/completions`;
  const agent = new Agent({ keepAlive: true });
  try {
    for (let i = 0; i < 100; i++) await call(url, agent);
    const times = [];
    for (let i = 0; i < calls; i++) times.push(await call(url, agent));
    return median(times);
  } finally {
    agent.destroy();
    child.kill();
  }
}

function call(url, agent) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json' },
    });
    sent.on('error', reject);
    sent.on('response', (reply) => {
      if (reply.statusCode !== 200) reject(new Error(`status ${reply.statusCode}`));
      reply.resume();
      reply.on('end', () => resolve(performance.now() - started));
    });
    sent.end(BODY);
  });
}

/** The same agent and answers, from a canned server and from cassettes, alternating. */
async function suites(count, rounds) {
  const cwd = mkdtempSync(join(tmpdir(), 'agentci-bench-'));
  const provider = spawn(process.execPath, [join(here, 'capture-part.mjs'), 'provider'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(provider.stdout, 'data');
    const env = {
      ...process.env,
      CI: '',
      OPENAI_API_KEY: 'not-a-key',
      OPENAI_BASE_URL: `${String(line).trim()}/v1`,
    };
    const queries = Array.from({ length: count }, (_, i) => ({
      id: `q${i}`,
      query: `Question number ${i}?`,
      correctness: { expected_in_answer: ['ok'] },
    }));
    writeFileSync(join(cwd, 'agent.mjs'), AGENT);
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      JSON.stringify({ agent: 'bench', runner: { module: './agent.mjs' }, queries }),
    );
    const run = (...args) => {
      const started = performance.now();
      const before = cpuMs(provider.pid);
      const { status, stderr } = spawnSync(process.execPath, [cli, 'test', '--quiet', ...args], {
        cwd,
        env,
        encoding: 'utf8',
      });
      if (status !== 0)
        throw new Error(`agentci test ${args.join(' ')} exited with ${status}: ${stderr}`);
      const wall = performance.now() - started;
      const after = cpuMs(provider.pid);
      return { wall, cpu: before === undefined || after === undefined ? wall : after - before };
    };
    run('--cassette', 'record');
    const times = [[], []];
    for (let i = 0; i < rounds; i++) {
      times[0].push(run('--cassette', 'off'));
      times[1].push(run('--cassette', 'replay'));
    }
    const [canned, replayed] = times.map((runs) => ({
      cpu: median(runs.map(({ cpu }) => cpu)),
      wall: median(runs.map(({ wall }) => wall)),
    }));
    return { canned, replayed };
  } finally {
    provider.kill();
    rmSync(cwd, { recursive: true, force: true });
  }
}

/**
 * CPU time of finished child processes and of the provider, which answers in place of the
 * cassettes. Mostly independent of the machine's load. Undefined if the system does not report it.
 */
function cpuMs(provider) {
  try {
    const fields = (pid) =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
        .map(Number);
    const [own, other] = [fields('self'), fields(provider)];
    // Ticks are a hundredth of a second. Fields 14 to 17 of proc(5), counted from the state.
    return (own[13] + own[14] + other[11] + other[12]) * 10;
  } catch {
    return undefined;
  }
}
