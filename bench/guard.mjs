// The guard: its startup compared with bare Node, and its overhead per call compared with the bare
// server, with 50 rules and a history of ten thousand calls. Prints its rows if run alone. npm run
// bench adds them to the table.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const out = join(here, 'out');
const SERVER = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id } = JSON.parse(line);
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'ok' }] } }) + '\\n');
  }).on('close', () => process.exit(0));
`;

/** The rows of the table. */
export async function measureGuard({ quick = false } = {}) {
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'guard-policy.json'), JSON.stringify(policy()));
  writeFileSync(join(out, 'guard-server.cjs'), SERVER);
  return [startTime(quick ? 5 : 21), await callTime(quick ? 300 : 2000, quick ? 500 : 10_000)];
}

function policy() {
  const rules = Array.from({ length: 50 }, (_, i) => [
    // biome-ignore lint/suspicious/noThenProperty: `then` is the rule's word; the object is never awaited.
    { type: 'before', first: `login${i}`, then: `pay${i}` },
    { type: 'never_after', trigger: `read${i}`, forbidden: `send${i}` },
    { type: 'max_calls', tool: `tool${i % 5}`, max: 1_000_000 },
    { type: 'sequence', tools: [`open${i}`, `close${i}`] },
    { type: 'blocklist', tools: [`admin${i}_*`] },
  ]).flat();
  return {
    tools: { tool0: { arguments: { q: { type: 'string', maxLength: 1000 } } } },
    rules: rules.slice(0, 50),
  };
}

function startTime(rounds) {
  const time = (args) => {
    const started = performance.now();
    spawnSync(process.execPath, args, { stdio: 'ignore' });
    return performance.now() - started;
  };
  const guard = [cli, 'guard', '--policy', join(out, 'guard-policy.json'), '--', '/bin/true'];
  // Starting a process takes a tenth of the time and is not part of the guard, so the bare program
  // starts the same one.
  const starts = `require('node:child_process').spawn('/bin/true', { stdio: ['pipe', 'pipe', 'inherit'], detached: true })`;
  const times = { empty: [], bare: [], guarded: [] };
  for (let i = 0; i < rounds; i++) {
    times.empty.push(time(['-e', '0']));
    times.bare.push(time(['-e', starts]));
    times.guarded.push(time(guard));
  }
  const guarded = median(times.guarded);
  const ratio = guarded / median(times.bare);
  const ofEmpty = guarded / median(times.empty);
  return {
    work: 'guard: start with 50 rules, compared with a bare node that starts the same server',
    measured: `${guarded.toFixed(0)} ms (${ratio.toFixed(2)} ×; ${ofEmpty.toFixed(2)} × an empty node)`,
    bound: '≤ 2 ×',
    ok: ratio <= 2,
  };
}

async function callTime(calls, history) {
  const server = [join(out, 'guard-server.cjs')];
  const bare = await session(server);
  const guarded = await session([
    cli,
    'guard',
    '--policy',
    join(out, 'guard-policy.json'),
    '--',
    process.execPath,
    ...server,
  ]);
  for (let i = 0; i < history; i++) await guarded.call(i);
  for (let i = 0; i < 200; i++) await bare.call(i);
  const times = { bare: [], guarded: [] };
  // Alternates, so that the machine's load affects both equally.
  for (let i = 0; i < calls; i++) {
    times.bare.push(await bare.call(i));
    times.guarded.push(await guarded.call(i));
  }
  bare.end();
  guarded.end();
  const p99 = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length * 0.99)];
  const added = median(times.guarded) - median(times.bare);
  return {
    work: `guard: added per call, 50 rules, ${history.toLocaleString('en-US')} calls of history`,
    measured: `${added.toFixed(2)} ms median (p99 ${p99(times.guarded).toFixed(2)} ms, bare server ${p99(times.bare).toFixed(2)} ms)`,
    bound: '≤ 1 ms median',
    ok: added <= 1,
  };
}

async function session(args) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const call = async (i) => {
    const params = { name: `tool${i % 5}`, arguments: { q: 'x'.repeat(200) } };
    const started = performance.now();
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params })}\n`,
    );
    const { value } = await lines.next();
    if (JSON.parse(value).id !== id) throw new Error('not the answer to this call');
    return performance.now() - started;
  };
  return { call, end: () => child.stdin.end() };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { work, measured, bound, ok } of await measureGuard({
    quick: process.argv.includes('--quick'),
  }))
    process.stdout.write(`${ok ? 'ok ' : 'NOT'} ${work}: ${measured}, ${bound}\n`);
