// A run over a queue: two workers of 25 slots, a thousand queries of 20 ms each, a real Redis.
// Everything is on this machine: the Redis, both workers, the agent (an HTTP server) and the
// command that collects and judges. The workers are warmed up. The measured time starts when the
// command begins to enqueue and ends when the last verdict is on disk, as marked by the command. It
// excludes startup and the report. The ideal is the time that all slots need for the agent alone.
// CPU time is reported as well, because other programs affect it less: with two cores, 1,000
// queries in 470 ms leave 0.94 ms of CPU for each. As a lower bound, two programs send the same
// queries to the agent with the same number of slots, without a queue or a verdict.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const cli = fileURLToPath(new URL('../packages/agentci/dist/cli.mjs', import.meta.url));
const REDIS = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) =>
  existsSync(path),
);
const QUERIES = 1000;
const SLOTS = 25;
const TASK_MS = 20;

const WARM_UP = 4;
const RUNS = 7;
/**
 * Worker speed differs by a fifth between starts, so this is the number of starts. The median
 * counts.
 */
const STARTS = 5;

const AGENT = `
import { createServer } from 'node:http';
createServer((request, response) => {
  request.resume();
  request.on('end', () => setTimeout(() => {
    response.setHeader('content-type', 'application/json');
    response.end('{"answer":"hello"}');
  }, ${TASK_MS}));
}).listen(Number(process.argv[2]), '127.0.0.1');
`;

/** Calls the agent like a worker, without other work: half of the queries, repeatedly. */
const CLIENT = `
import { Agent, request } from 'node:http';
const [port, queries, slots, rounds] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true });
const ask = (body) => new Promise((resolve, reject) => {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const sent = request({ hostname: '127.0.0.1', port, path: '/', method: 'POST', agent, headers }, (reply) => {
    reply.on('data', () => {});
    reply.on('end', resolve);
  });
  sent.on('error', reject);
  sent.end(body);
});
for (let round = 0; round < rounds; round++) {
  const begun = performance.now();
  let next = 0;
  const slot = async () => { while (next < queries) await ask(JSON.stringify({ query: 'hello ' + next++ })); };
  await Promise.all(Array.from({ length: slots }, slot));
  console.log(performance.now() - begun);
}
process.exit();
`;

/**
 * Loaded before the command: records the time of the first enqueue and of the last verdict, and the
 * CPU time in between.
 */
const MARKS = `
import { writeFileSync } from 'node:fs';
const mark = performance.mark.bind(performance);
const seen = {};
performance.mark = (name, options) => {
  const { user, system } = process.cpuUsage();
  seen[name] = { at: performance.now(), cpuMs: (user + system) / 1000 };
  return mark(name, options);
};
process.on('exit', () => {
  const from = seen['agentci:queue-put'];
  const to = seen['agentci:queue-collected'];
  writeFileSync('marks.json', JSON.stringify({ ms: to.at - from.at, cpuMs: to.cpuMs - from.cpuMs }));
});
`;

export async function measureQueue({ quick = false } = {}) {
  if (REDIS === undefined)
    return [
      {
        work: 'queue: 2 workers × 25 slots through Redis',
        measured: 'no redis-server here',
        bound: '≥ 60 %',
        ok: undefined,
      },
    ];
  const dir = mkdtempSync(join(tmpdir(), 'agentci-queue-'));
  const port = await freePort();
  const redis = spawn(
    REDIS,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir],
    {
      stdio: 'ignore',
    },
  );
  const url = `redis://127.0.0.1:${port}`;
  const workers = [];
  const agentPort = await freePort();
  try {
    writeFileSync(join(dir, 'agent.mjs'), AGENT);
    writeFileSync(join(dir, 'marks.mjs'), MARKS);
    const lines = Array.from(
      { length: QUERIES },
      (_, i) => `  - {id: q${i}, query: hello ${i}, correctness: {expected_in_answer: [hello]}}\n`,
    );
    writeFileSync(
      join(dir, 'agentci_spec.yaml'),
      `agent: queue\nrunner: {http: {url: 'http://127.0.0.1:${agentPort}/', body: {query: '{{query}}'}, answer: /answer}}\nqueries:\n${lines.join('')}`,
    );
    workers.push(
      spawn(process.execPath, ['agent.mjs', String(agentPort)], { cwd: dir, stdio: 'ignore' }),
    );
    await sleep(300);
    const bareMs = await bare(dir, agentPort);
    const starts = [];
    for (let i = 0; i < (quick ? 1 : STARTS); i++)
      starts.push(
        await oneStart({ dir, url, others: [redis.pid, workers[0].pid], runs: quick ? 2 : RUNS }),
      );
    const counted = starts.sort((a, b) => a.ms - b.ms)[Math.floor(starts.length / 2)];
    const ideal = (QUERIES * TASK_MS) / (2 * SLOTS);
    const { ms: tookMs, cpuMs } = counted;
    const share = ideal / tookMs;
    const eachMs = (counted.wholeMs - ideal) / QUERIES;
    const shares = starts.map(({ ms }) => Math.round((100 * ideal) / ms)).join(', ');
    return [
      {
        work: 'queue: 2 workers × 25 slots on 1,000 × 20 ms, through Redis, from the first query put in to the last verdict',
        measured: `${Math.round(share * 100)} % of ideal (${Math.round(tookMs)} ms; the median of starts with ${shares} %; ${Math.round(bareMs)} ms without a queue; ${(cpuMs / QUERIES).toFixed(2)} ms of CPU per query, all processes)`,
        bound: '≥ 60 %',
        ok: share >= 0.6,
      },
      {
        work: 'queue: cost per query, from the start of the command to its end',
        measured: `${eachMs.toFixed(2)} ms`,
        bound: '≤ 15 ms',
        ok: eachMs <= 15,
      },
    ];
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    redis.kill('SIGKILL');
    await sleep(100);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Starts two workers, warms them up, and returns the medians of some runs. */
async function oneStart({ dir, url, others, runs }) {
  const args = [cli, 'worker', '--queue', url, '-w', String(SLOTS)];
  const workers = Array.from({ length: 2 }, () =>
    spawn(process.execPath, args, { cwd: dir, stdio: 'ignore' }),
  );
  try {
    await sleep(1500);
    const all = [...others, ...workers.map(({ pid }) => pid)];
    const measured = [];
    for (let i = 0; i < WARM_UP + runs; i++) measured.push(await run(dir, url, all));
    const counted = measured.slice(WARM_UP);
    const middle = (name) => median(counted.map((each) => each[name]));
    return { ms: middle('ms'), cpuMs: middle('cpuMs'), wholeMs: middle('wholeMs') };
  } finally {
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(
      workers.map((worker) => new Promise((resolve) => worker.on('close', resolve))),
    );
  }
}

/** The same queries with the same number of slots, sent by two concurrent programs. */
async function bare(dir, agentPort) {
  writeFileSync(join(dir, 'client.mjs'), CLIENT);
  const args = [agentPort, QUERIES / 2, SLOTS, WARM_UP + RUNS].map(String);
  const outputs = Array.from({ length: 2 }, async () => {
    const child = spawn(process.execPath, ['client.mjs', ...args], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    for await (const chunk of child.stdout) text += chunk;
    return text.trim().split('\n').map(Number);
  });
  const [first, second] = await Promise.all(outputs);
  return median(first.map((ms, i) => Math.max(ms, second[i])).slice(WARM_UP));
}

async function run(dir, url, others) {
  const begun = performance.now();
  const cpuBefore = cpuOf(others);
  const args = ['--import', './marks.mjs', cli, 'test', '--queue', url, '--quiet'];
  const child = spawn(process.execPath, args, { cwd: dir, stdio: 'ignore' });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`the run over the queue ended with ${code}`);
  const wholeMs = performance.now() - begun;
  const { ms, cpuMs } = JSON.parse(readFileSync(join(dir, 'marks.json'), 'utf8'));
  return { wholeMs, ms, cpuMs: cpuMs + cpuOf(others) - cpuBefore };
}

/** CPU time of processes on Linux. A tick is 10 ms. */
function cpuOf(pids) {
  const ticks = pids.map((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      return Number.NaN;
    }
  });
  return 10 * ticks.reduce((sum, each) => sum + each, 0);
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
