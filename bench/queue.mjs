// A run over a queue: two workers of 25 slots, a thousand queries of 20 ms each, a real Redis on this machine.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const cli = fileURLToPath(new URL('../packages/agentci/dist/cli.cjs', import.meta.url));
const REDIS = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path));
const QUERIES = 1000;
const SLOTS = 25;
const TASK_MS = 20;

/** Answers after a while, and writes down when it was first asked and last answered. */
const AGENT = `
import { createServer } from 'node:http';
let first, last;
createServer((request, response) => {
  if (request.url === '/times') {
    response.end(JSON.stringify({ first, last }));
    first = last = undefined;
    return;
  }
  first ??= Date.now();
  request.resume();
  request.on('end', () => setTimeout(() => {
    last = Date.now();
    response.setHeader('content-type', 'application/json');
    response.end('{"answer":"hello"}');
  }, ${TASK_MS}));
}).listen(Number(process.argv[2]), '127.0.0.1');
`;

export async function measureQueue({ quick = false } = {}) {
  if (REDIS === undefined)
    return [
      {
        work: 'queue: 2 workers × 25 slots through Redis',
        measured: 'no redis-server here',
        bound: '≥ 85 %',
        ok: undefined,
      },
    ];
  const dir = mkdtempSync(join(tmpdir(), 'agentci-queue-'));
  const port = await freePort();
  const redis = spawn(REDIS, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir], {
    stdio: 'ignore',
  });
  const url = `redis://127.0.0.1:${port}`;
  const workers = [];
  const agentPort = await freePort();
  try {
    writeFileSync(join(dir, 'agent.mjs'), AGENT);
    const lines = Array.from(
      { length: QUERIES },
      (_, i) => `  - {id: q${i}, query: hello ${i}, correctness: {expected_in_answer: [hello]}}\n`,
    );
    writeFileSync(
      join(dir, 'agentci_spec.yaml'),
      `agent: queue\nrunner: {http: {url: 'http://127.0.0.1:${agentPort}/', body: {query: '{{query}}'}, answer: /answer}}\nqueries:\n${lines.join('')}`,
    );
    workers.push(spawn(process.execPath, ['agent.mjs', String(agentPort)], { cwd: dir, stdio: 'ignore' }));
    await sleep(300);
    for (let i = 0; i < 2; i++)
      workers.push(
        spawn(process.execPath, [cli, 'worker', '--queue', url, '-w', String(SLOTS)], { cwd: dir, stdio: 'ignore' }),
      );
    await sleep(1500);
    const runs = [];
    for (let i = 0; i < (quick ? 2 : 5); i++) runs.push(await run(dir, url, agentPort));
    const ideal = (QUERIES * TASK_MS) / (2 * SLOTS);
    const tookMs = median(runs.map(({ agentMs }) => agentMs));
    const share = ideal / tookMs;
    const eachMs = median(runs.map(({ wholeMs }) => wholeMs - ideal)) / QUERIES;
    return [
      {
        work: 'queue: 2 workers × 25 slots on 1,000 × 20 ms, through Redis',
        measured: `${Math.round(share * 100)} % of ideal (${Math.round(tookMs)} ms)`,
        bound: '≥ 85 %',
        ok: share >= 0.85,
      },
      {
        work: 'queue: cost per query, from the start of the command to its end',
        measured: `${eachMs.toFixed(2)} ms`,
        bound: '≤ 5 ms',
        ok: eachMs <= 5,
      },
    ];
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    redis.kill('SIGKILL');
    await sleep(100);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function run(dir, url, agentPort) {
  const begun = performance.now();
  const child = spawn(process.execPath, [cli, 'test', '--queue', url, '--quiet'], { cwd: dir, stdio: 'ignore' });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`the run over the queue ended with ${code}`);
  const wholeMs = performance.now() - begun;
  const { first, last } = await (await fetch(`http://127.0.0.1:${agentPort}/times`)).json();
  const agentMs = last - first;
  return { wholeMs, agentMs };
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
