// Throughput and memory of span capture, and the cost of the preload for a Node program. node
// bench/otlp.mjs [spans]      needs a build
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const CLI = fileURLToPath(new URL('../packages/agentci/dist/cli.mjs', import.meta.url));
const PRELOAD = fileURLToPath(new URL('../packages/agentci/dist/register.cjs', import.meta.url));
const SPANS = Number(process.argv[2] ?? 100_000);
const BATCH = 512;
const SENDERS = 4;

/** A protobuf field with bytes, text or a message. */
function field(tag, ...parts) {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = [(tag << 3) | 2];
  let { length } = body;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), body]);
}
const attribute = (key, value) => field(9, field(1, key), field(2, field(1, value)));
const PROMPT = JSON.stringify([
  { role: 'user', parts: [{ type: 'text', content: 'x'.repeat(300) }] },
]);
const MODEL = [
  attribute('gen_ai.operation.name', 'chat'),
  attribute('gen_ai.request.model', 'gpt-5-mini'),
  attribute('gen_ai.input.messages', PROMPT),
];
const DATABASE = [
  attribute('db.system.name', 'postgresql'),
  attribute('db.query.text', 'SELECT * FROM orders WHERE id = $1'),
  attribute('server.address', 'db.internal'),
];

/**
 * A batch in SDK format: one span in `every` is a model's, the others are from servers and
 * databases.
 */
function batch(every) {
  const now = Buffer.alloc(8);
  now.writeBigUInt64LE(BigInt(Date.now()) * 1_000_000n);
  const time = (tag) => Buffer.concat([Buffer.from([(tag << 3) | 1]), now]);
  const span = (_, n) =>
    field(
      2,
      field(1, Buffer.alloc(16, 7)),
      field(2, randomBytes(8)),
      field(5, 'SELECT orders'),
      time(7),
      time(8),
      ...(n % every === 0 ? MODEL : DATABASE),
    );
  return field(1, field(2, ...Array.from({ length: BATCH }, span)));
}

async function ingest(every) {
  const out = mkdtempSync(join(tmpdir(), 'agentci-otlp-'));
  rmSync(out, { recursive: true });
  const child = spawn(
    process.execPath,
    [CLI, 'capture', '--out', out, '--planes', 'otlp', '--env-only'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  while (!/OTLP_TRACES_ENDPOINT='[^']+'/.test(printed)) await once(child.stdout, 'data');
  const endpoint = new URL(/OTLP_TRACES_ENDPOINT='([^']+)'/.exec(printed)[1]);
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const post = (body) =>
    new Promise((resolve, reject) => {
      const sent = request(
        endpoint,
        { method: 'POST', agent, headers: { 'content-type': 'application/x-protobuf' } },
        (reply) => {
          reply.resume();
          reply.on('end', () =>
            reply.statusCode === 200 ? resolve() : reject(new Error(`status ${reply.statusCode}`)),
          );
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  const bodies = Array.from({ length: Math.ceil(SPANS / BATCH) }, () => batch(every));
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (next < bodies.length) await post(bodies[next++]);
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const megabytes = Math.round(
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024,
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  rmSync(out, { recursive: true, force: true });
  return { perSecond: Math.round((bodies.length * BATCH) / seconds), megabytes };
}

function preload() {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-preload-'));
  const rules = {
    front: '127.0.0.1:1',
    base: 'http://127.0.0.1:1/r/t/llm',
    hosts: ['api.openai.com'],
  };
  const env = { PATH: process.env.PATH };
  const with_ = {
    ...env,
    AGENTCI_PRELOAD: JSON.stringify(rules),
    NODE_OPTIONS: `--require ${PRELOAD}`,
  };
  const rows = {};
  for (const name of ['agent.cjs', 'agent.mjs']) {
    const file = join(dir, name);
    writeFileSync(file, '0');
    const time = (given) => {
      const started = performance.now();
      spawnSync(process.execPath, [file], { env: given });
      return performance.now() - started;
    };
    const differences = Array.from({ length: 41 }, () => {
      const plain = time(env);
      return time(with_) - plain;
    });
    rows[name] = median(differences);
  }
  rmSync(dir, { recursive: true });
  return rows;
}

const LIMITS = { 20: 150, 1: 150 };
for (const [every, limit] of Object.entries(LIMITS)) {
  const { perSecond, megabytes } = await ingest(Number(every));
  const what = every === '1' ? 'every span is an agent’s' : `one span in ${every} is an agent’s`;
  console.log(
    `spans taken, ${what}: ${perSecond}/s (at least 20000), peak ${megabytes} MB (at most ${limit})`,
  );
}
for (const [file, ms] of Object.entries(preload()))
  console.log(`preload, ${file}: ${ms.toFixed(1)} ms (under 5)`);
