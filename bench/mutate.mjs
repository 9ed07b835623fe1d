// Mutants: the time to change 1,000 recordings in 20 ways each and judge them all. Prints its row
// if run alone. npm run bench adds it to the table.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDataset } from './dataset.mjs';
import { median, timeCommand } from './measure.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const TRACES = 1000;
const EACH = 20;
const BOUND_S = 5;

export function measureMutants(times = 3) {
  const out = mkdtempSync(join(tmpdir(), 'agentci-mutants-'));
  writeDataset(TRACES, out);
  const args = ['mutate', '-c', `agentci-${TRACES}.yaml`, '--traces', `traces-${TRACES}.jsonl`];
  const runs = Array.from({ length: times }, () =>
    timeCommand(process.execPath, [cli, ...args, '--budget', String(TRACES * EACH), '--json'], {
      cwd: out,
    }),
  );
  rmSync(out, { recursive: true, force: true });
  const seconds = median(runs.map((run) => run.seconds));
  const megabytes = Math.max(...runs.map((run) => run.megabytes));
  return [
    {
      work: `${TRACES.toLocaleString('en')} recordings, ${EACH} mutants each, all judged`,
      measured: `${seconds.toFixed(2)} s, ${megabytes} MB`,
      bound: `≤ ${BOUND_S} s`,
      ok: seconds <= BOUND_S,
    },
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(measureMutants());
