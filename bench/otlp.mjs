// How fast the capture takes spans, how much memory that needs, and what the preload costs a Node program.
// node bench/otlp.mjs [spans]      needs a build
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PbfWriter } from 'pbf';
import { median } from './measure.mjs';

const CLI = fileURLToPath(new URL('../packages/agentci/dist/cli.mjs', import.meta.url));
const PRELOAD = fileURLToPath(new URL('../packages/agentci/dist/register.cjs', import.meta.url));
const SPANS = Number(process.argv[2] ?? 100_000);
const BATCH = 512;
const SENDERS = 4;

/** A batch as an SDK sends it: one span in `every` is a model's, the others are of servers and databases. */
function batch(every) {
  const pbf = new PbfWriter();
  let n = 0;
  const text = (inner, key, value) =>
    inner.writeMessage(
      9,
      (_, pair) => {
        pair.writeStringField(1, key);
        pair.writeMessage(2, (__, any) => any.writeStringField(1, value), 0);
      },
      0,
    );
  const now = BigInt(Date.now()) * 1_000_000n;
  const time = (inner, tag) => {
    inner.writeTag(tag, 1);
    inner.writeFixed32(Number(now & 0xffffffffn));
    inner.writeFixed32(Number(now >> 32n));
  };
  const span = (_, inner) => {
    const id = Buffer.alloc(8);
    id.writeUInt32BE(Math.floor(Math.random() * 2 ** 32));
    id.writeUInt32BE(n + 1, 4);
    inner.writeBytesField(1, Buffer.alloc(16, 7));
    inner.writeBytesField(2, id);
    inner.writeStringField(5, 'SELECT orders');
    time(inner, 7);
    time(inner, 8);
    if (n++ % every === 0) {
      text(inner, 'gen_ai.operation.name', 'chat');
      text(inner, 'gen_ai.request.model', 'gpt-5-mini');
      text(
        inner,
        'gen_ai.input.messages',
        JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'x'.repeat(300) }] }]),
      );
    } else {
      text(inner, 'db.system.name', 'postgresql');
      text(inner, 'db.query.text', 'SELECT * FROM orders WHERE id = $1');
      text(inner, 'server.address', 'db.internal');
    }
  };
  pbf.writeMessage(
    1,
    (_, resource) =>
      resource.writeMessage(
        2,
        (__, scope) => {
          for (let i = 0; i < BATCH; i++) scope.writeMessage(2, span, 0);
        },
        0,
      ),
    0,
  );
  return Buffer.from(pbf.finish());
}

async function ingest(every) {
  const out = mkdtempSync(join(tmpdir(), 'agentci-otlp-'));
  rmSync(out, { recursive: true });
  const child = spawn(process.execPath, [CLI, 'capture', '--out', out, '--planes', 'otlp', '--env-only'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
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
  const rules = { front: '127.0.0.1:1', base: 'http://127.0.0.1:1/r/t/llm', hosts: ['api.openai.com'] };
  const env = { PATH: process.env.PATH };
  const with_ = { ...env, AGENTCI_PRELOAD: JSON.stringify(rules), NODE_OPTIONS: `--require ${PRELOAD}` };
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

for (const [what, every] of [
  ['one span in twenty is an agent’s', 20],
  ['every span is an agent’s', 1],
]) {
  const { perSecond, megabytes } = await ingest(every);
  console.log(`spans taken, ${what}: ${perSecond}/s (at least 20000), peak ${megabytes} MB (at most 150)`);
}
for (const [file, ms] of Object.entries(preload())) console.log(`preload, ${file}: ${ms.toFixed(1)} ms (under 5)`);
