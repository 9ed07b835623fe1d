// Overhead of capture per call: the same calls with and without the capture server, alternating in
// one run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';
import { median } from './measure.mjs';

const part = join(fileURLToPath(import.meta.url), '..', 'capture-part.mjs');
const BODY = JSON.stringify({
  model: 'm',
  stream_options: { include_usage: true },
  messages: [{ role: 'user', content: 'x'.repeat(8000) }],
});

export async function measureCapture({ quick = false } = {}) {
  const calls = quick ? 100 : 1000;
  const provider = start(['provider']);
  const direct = `${await provider.line()}/v1`;
  const front = start(['front', direct.replace(/\/v1$/, '')]);
  const through = await front.line();
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  try {
    for (let i = 0; i < 50; i++)
      for (const url of [direct, through]) await call(`${url}/chat/completions`, agent);
    const plain = [[], []];
    const streams = [[], []];
    const chunks = [[], []];
    for (let i = 0; i < calls; i++)
      for (const [at, url] of [direct, through].entries()) {
        plain[at].push(await call(`${url}/chat/completions`, agent));
        streams[at].push(await call(`${url}/chat/completions?stream=1`, agent));
      }
    for (let i = 0; i < (quick ? 10 : 60); i++)
      for (const [at, url] of [direct, through].entries())
        for (const value of (await call(`${url}/chat/completions?stream=paced`, agent)).transits)
          chunks[at].push(value);
    const p99 = (values) => percentile(values, 0.99);
    const both = ([before, after], pick) => `${ms(pick(before))} → ${ms(pick(after))}`;
    const totals = plain.map((list) => list.map(({ totalMs }) => totalMs));
    const added = (list, key, pick) =>
      pick(list[1].map((one) => one[key])) - pick(list[0].map((one) => one[key]));
    const perCall = added(plain, 'totalMs', median);
    const firstByte = added(streams, 'firstMs', median);
    const perChunk = median(chunks[1]) - median(chunks[0]);
    await front.ask();
    const burst = quick ? 1000 : 10_000;
    const aborted = await storm(`${through}/chat/completions`, agent, burst);
    const seen = JSON.parse(await front.ask());
    const childMs = await startCost(direct, quick ? 5 : 15);
    return [
      row(
        'capture: added per call, 8 KB request',
        `${ms(perCall)} median; p99 ${both(totals, p99)}`,
        '≤ 1 ms median',
        perCall <= 1,
      ),
      row('capture: added to the first byte of a stream', ms(firstByte), '≤ 1 ms', firstByte <= 1),
      row(
        'capture: added per streamed chunk, one every 2 ms',
        `${ms(perChunk)} median; p99 ${both(chunks, p99)}`,
        '≤ 0.1 ms median',
        perChunk <= 0.1,
      ),
      row(
        `capture: ${burst} exchanges over 50 connections, some given up`,
        `${burst - seen.exchanges} lost, ${seen.aborted} of ${aborted} marked, ${seen.rssMb} MB`,
        'none lost, all marked',
        seen.exchanges === burst && seen.aborted === aborted,
      ),
      row(
        'capture: starting a captured child',
        `${ms(childMs)} more`,
        '≤ 60 ms more',
        childMs <= 60,
      ),
    ];
  } finally {
    agent.destroy();
    front.child.kill();
    provider.child.kill();
  }
}

const row = (work, measured, bound, ok) => ({ work, measured, bound, ok });
const ms = (value) => `${value.toFixed(2)} ms`;
/** The smallest value that at least this share of all values does not exceed. */
const percentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1];

function start(args) {
  const child = spawn(process.execPath, [part, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = [];
  let waiting;
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
    const found = text.split('\n');
    text = found.pop();
    lines.push(...found);
    if (lines.length > 0) waiting?.();
  });
  const line = async () => {
    if (lines.length === 0) await new Promise((resolve) => (waiting = resolve));
    return lines.shift();
  };
  const ask = () => {
    child.stdin.write('end\n');
    return line();
  };
  return { child, line, ask };
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
      let firstMs;
      const transits = [];
      reply.on('data', (chunk) => {
        firstMs ??= performance.now() - started;
        // One clock for all processes of the machine.
        const now = process.hrtime.bigint();
        for (const [, at] of chunk.toString('latin1').matchAll(/"at":"(\d+)"/g))
          transits.push(Number(now - BigInt(at)) / 1e6);
      });
      reply.on('end', () => resolve({ firstMs, transits, totalMs: performance.now() - started }));
    });
    sent.end(BODY);
  });
}

/** Fifty clients that abort a fifth of their calls after the first piece. */
async function storm(url, agent, total) {
  let seed = 11;
  let left = total;
  let aborted = 0;
  const random = () => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  const client = async () => {
    while (left-- > 0) {
      if (random() >= 0.2) {
        await call(url, agent);
        continue;
      }
      aborted++;
      const sent = request(`${url}?stream=long`, { method: 'POST', agent });
      sent.on('error', () => {});
      sent.end(BODY);
      const [reply] = await once(sent, 'response');
      reply.on('error', () => {});
      await once(reply, 'data');
      sent.destroy();
    }
  };
  await Promise.all(Array.from({ length: 50 }, client));
  return aborted;
}

/** Time from the decision to start an agent to its end, with and without a capture server. */
async function startCost(upstream, rounds) {
  const { createCapture } = await createJiti(import.meta.url).import(
    '../packages/capture/src/capture.ts',
  );
  const env = { ...process.env, OPENAI_BASE_URL: upstream };
  const capture = createCapture({ planes: ['llm'], env, cwd: '/' });
  const run = async (isCaptured) => {
    const started = performance.now();
    const slot = isCaptured ? await capture.open() : undefined;
    const child = spawn(process.execPath, ['-e', '0'], { env: slot?.env ?? env });
    await once(child, 'exit');
    await slot?.end('itself');
    await slot?.close();
    return performance.now() - started;
  };
  const times = [[], []];
  for (let i = 0; i < rounds; i++) for (const at of [0, 1]) times[at].push(await run(at === 1));
  await capture.close();
  return median(times[1]) - median(times[0]);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { work, measured, bound, ok } of await measureCapture({
    quick: process.argv.includes('--quick'),
  }))
    process.stdout.write(`${ok ? 'ok  ' : 'MISS'} ${work}: ${measured} (${bound})\n`);
