// Measures the demos, without and with a fault: node demos/measure.mjs [runs]. The table in
// docs/metrics_reference.md is its output.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countLoops, readTraces, toolNames, totals } from '../packages/agentci/dist/index.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const runs = process.argv[2] ?? '5';

const CASES = [
  { demo: 'rag', name: 'sound', env: {} },
  { demo: 'rag', name: 'broken prompt', env: { RAG_PROMPT: 'v1-broken' } },
  { demo: 'rag', name: 'tripled cost', env: { DEMO_MUTATION: 'tripled-cost' } },
  { demo: 'support-router', name: 'sound', env: {} },
  { demo: 'dev-agent', name: 'sound', env: {} },
  { demo: 'dev-agent', name: 'loop', env: { DEMO_MUTATION: 'loop' } },
  { demo: 'incident', name: 'sound', env: {} },
  { demo: 'vitest', name: 'sound', env: {} },
];

console.log(
  '| demo | | queries × runs | tool calls | loops | LLM calls | tokens | cost / baseline | latency, median and longest |',
);
console.log('|---|---|---|---|---|---|---|---|---|');
for (const { demo, name, env } of CASES) console.log(await row(demo, name, env));

async function row(demo, name, env) {
  const cwd = join(here, demo);
  const args = ['test', '--judge', 'off', '-n', runs, '-w', '1', '-f', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (stdout === '') throw new Error(stderr);
  const run = JSON.parse(stdout);
  const seen = [];
  for await (const trace of readTraces(
    join(cwd, '.agentci', 'runs', run.run_id, 'traces', 'traces.jsonl'),
  )) {
    const { totalTokens, llmCalls, latencyMs } = totals(trace);
    const names = toolNames(trace);
    seen.push({
      tools: names.length,
      loops: countLoops(names),
      tokens: totalTokens,
      llm: llmCalls,
      ms: latencyMs,
    });
  }
  const times = seen.flatMap(({ ms }) => (ms?.exact ? [ms.value] : [])).sort((a, b) => a - b);
  const multipliers = run.results.flatMap(multipliersOf);
  const cells = [
    demo,
    name,
    `${run.results.length} × ${runs}`,
    span(seen.map(({ tools }) => tools)),
    span(seen.map(({ loops }) => loops)),
    span(known(seen, 'llm')),
    span(known(seen, 'tokens')),
    multipliers.length === 0 ? 'no baseline' : span(multipliers.map((n) => Number(n.toFixed(2)))),
    times.length === 0
      ? 'unknown'
      : `${Math.round(times[times.length >> 1])} and ${Math.round(times.at(-1))} ms`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/**
 * The multipliers of all repeats of a query. The report only has the one of the displayed repeat,
 * which gives the baseline's cost.
 */
function multipliersOf({ cost: { details }, runs: all = [] }) {
  const { cost_multiplier: shown, actual } = details;
  if (typeof shown !== 'number' || !(shown > 0)) return [];
  return all.flatMap(({ cost_usd: usd }) =>
    typeof usd === 'number' ? [(usd * shown) / actual.cost_usd] : [],
  );
}

/** Only captured values. Unknown numbers are left out, and a column without numbers is marked. */
function known(seen, key) {
  return seen.flatMap((one) => (one[key]?.exact ? [one[key].value] : []));
}

function span(values) {
  if (values.length === 0) return 'unknown';
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? `${low}` : `${low} to ${high}`;
}
