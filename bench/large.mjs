// Runs too large for memory: a hundred thousand queries from rows, and a folder of fifty thousand
// recordings.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { timeCommand } from './measure.mjs';

const cli = fileURLToPath(new URL('../packages/agentci/dist/cli.mjs', import.meta.url));

export const SPEC = `agent: large
queries:
  - id: "{{id}}"
    rows: rows.csv
    query: "Where does order {{order}} ship to?"
    correctness: {expected_in_answer: ["{{city}}"], not_in_answer: [sorry], regex_match: 'ORD-\\d{6}'}
    path: {expected_tools: [lookup_order, get_address], max_tool_calls: 5}
    cost: {max_total_tokens: 5000}
`;

const number = (i) => String(i).padStart(6, '0');
export const rowOf = (i) => `case-${number(i)},${number(i)},City ${i % 977}\n`;
/** Every fiftieth answer names another city. */
export const traceOf = (i) =>
  JSON.stringify({
    id: `case-${number(i)}`,
    query: `Where does order ${number(i)} ship to?`,
    answer: `Order ORD-${number(i)} ships to ${i % 50 === 0 ? 'nowhere' : `City ${i % 977}`}, in three to five working days.`,
    tool_calls: [
      { name: 'lookup_order', arguments: { order: number(i) }, result: 'found' },
      { name: 'get_address', arguments: { order: number(i) }, result: `City ${i % 977}` },
    ],
    usage: { input_tokens: 120, output_tokens: 40 },
  });

export function measureLarge({ quick = false } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-large-'));
  try {
    return [rows(dir, quick ? 20_000 : 100_000), files(dir, quick ? 2_000 : 50_000)];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function rows(dir, n) {
  writeFileSync(join(dir, 'agentci_spec.yaml'), SPEC);
  writeFileSync(
    join(dir, 'rows.csv'),
    `id,order,city\n${Array.from({ length: n }, (_, i) => rowOf(i)).join('')}`,
  );
  writeFileSync(
    join(dir, 'traces.jsonl'),
    `${Array.from({ length: n }, (_, i) => traceOf(i)).join('\n')}\n`,
  );
  const { seconds, megabytes } = judge(dir, 'traces.jsonl');
  return {
    work: `${n.toLocaleString('en')} queries from rows, JSON report`,
    measured: `${seconds.toFixed(1)} s, ${megabytes} MB`,
    bound: '≤ 400 MB',
    ok: megabytes <= 400,
  };
}

function files(dir, n) {
  const folder = join(dir, 'traces');
  mkdirSync(folder);
  for (let i = 0; i < n; i++) writeFileSync(join(folder, `${number(i)}.json`), traceOf(i));
  writeFileSync(
    join(dir, 'rows.csv'),
    `id,order,city\n${Array.from({ length: n }, (_, i) => rowOf(i)).join('')}`,
  );
  const script = `const { readdirSync } = require('node:fs'); const { readFile } = require('node:fs/promises'); (async () => { for (const name of readdirSync('.')) JSON.parse(await readFile(name, 'utf8')); })()`;
  const plain = timeCommand(process.execPath, ['-e', script], { cwd: folder });
  const ours = judge(dir, 'traces');
  return {
    work: `${n.toLocaleString('en')} trace files, read and judged`,
    measured: `${ours.seconds.toFixed(1)} s, ${(ours.seconds / plain.seconds).toFixed(2)} × reading and parsing them, ${ours.megabytes} MB`,
    bound: '≤ 400 MB',
    ok: ours.megabytes <= 400,
  };
}

function judge(cwd, traces) {
  rmSync(join(cwd, '.agentci'), { recursive: true, force: true });
  return timeCommand(
    process.execPath,
    [cli, 'test', '--traces', traces, '-f', 'json=results.json'],
    { cwd, exit: 1 },
  );
}
