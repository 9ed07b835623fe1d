// Several machines and long histories: shards merged into one run, and a long history listed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rowOf, SPEC, traceOf } from './large.mjs';
import { inTurns, timeCommand } from './measure.mjs';

const cli = fileURLToPath(new URL('../packages/agentci/dist/cli.mjs', import.meta.url));
const SHARDS = 8;

export function measureScale({ quick = false } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-scale-'));
  try {
    return [merge(dir, quick ? 500 : 5000), history(dir, quick ? 500 : 5000)];
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
  // Every fiftieth query fails, and queries of equal length are assigned alternately, so even
  // shards have no failure.
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

/** Runs of some years, with realistic lines. */
function history(dir, n) {
  const cwd = join(dir, 'history');
  mkdirSync(join(cwd, '.agentci', 'history'), { recursive: true });
  const line = (i) =>
    JSON.stringify({
      id: `20260101-${String(i).padStart(9, '0')}-0000`,
      at: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
      agent: 'shop',
      spec: 'agentci_spec.yaml',
      hash: `sha256:${'0'.repeat(64)}`,
      commit: String(i).padStart(40, '0'),
      branch: i % 3 === 0 ? 'main' : `topic-${i % 40}`,
      models: ['gpt-5-mini'],
      ...{
        total: 500,
        passed: 490,
        failed: 8,
        warnings: 3,
        errors: 2,
        skipped: 0,
        usd: 1.25 + (i % 7) / 100,
        unpriced: 0,
      },
      ...{ tokens: 1_250_000, p50_ms: 1800 + (i % 90), p95_ms: 6200, exit: 1 },
    });
  const lines = Array.from({ length: n }, (_, i) => line(i));
  writeFileSync(join(cwd, '.agentci', 'history', 'runs.jsonl'), `${lines.join('\n')}\n`);
  const { base, list } = inTurns(9, {
    base: () => timeCommand(process.execPath, ['-e', '0']),
    list: () => run(cwd, ['history', '--last', String(n)], 0),
  });
  const ms = Math.round(1000 * (list.seconds - base.seconds));
  return {
    work: `a history of ${n.toLocaleString('en')} runs, all listed`,
    measured: `${ms} ms more than a bare node`,
    bound: '≤ 150 ms more',
    ok: ms <= 150,
  };
}

const run = (cwd, args, exit = 1) => timeCommand(process.execPath, [cli, ...args], { cwd, exit });

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(measureScale());
