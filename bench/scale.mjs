// Beyond one machine and over time: shards merged into one run, and a long history listed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rowOf, SPEC, traceOf } from './large.mjs';
import { timeCommand } from './measure.mjs';

const cli = fileURLToPath(new URL('../packages/agentci/dist/cli.mjs', import.meta.url));
const SHARDS = 8;

export function measureScale({ quick = false } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-scale-'));
  try {
    return [merge(dir, quick ? 500 : 5000)];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function merge(cwd, size) {
  const n = size * SHARDS;
  const all = Array.from({ length: n }, (_, i) => i);
  writeFileSync(join(cwd, 'agentci_spec.yaml'), SPEC);
  writeFileSync(join(cwd, 'rows.csv'), `id,order,city\n${all.map(rowOf).join('')}`);
  writeFileSync(join(cwd, 'traces.jsonl'), `${all.map(traceOf).join('\n')}\n`);
  // Every fiftieth query fails, and queries of equal length are dealt out in turns: the even shards have none of those.
  for (let i = 1; i <= SHARDS; i++)
    run(cwd, ['test', '--traces', 'traces.jsonl', '--shard', `${i}/${SHARDS}`, '--quiet'], i % 2);
  const { seconds, megabytes } = run(cwd, ['merge', '.agentci/runs', '--out', 'merged', '--quiet']);
  return {
    work: `merge of ${SHARDS} shards with ${size.toLocaleString('en')} results each`,
    measured: `${seconds.toFixed(2)} s, ${megabytes} MB`,
    bound: '≤ 2 s, ≤ 150 MB',
    ok: seconds <= 2 && megabytes <= 150,
  };
}

const run = (cwd, args, exit = 1) => timeCommand(process.execPath, [cli, ...args], { cwd, exit });

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(measureScale());
